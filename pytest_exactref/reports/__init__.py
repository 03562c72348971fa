"""Reports: what the plugin prints. They compute nothing; they lay out what the records hold."""

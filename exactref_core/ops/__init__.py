"""The operations: one file each, or one row of a table where a family shares its evaluation."""

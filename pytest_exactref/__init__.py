"""The pytest plugin: options, the ``exactref`` fixture, the ``er.op`` marker and the reports.

PYTEST_DONT_REWRITE: there is no assert here, and rewriting would cost more than loading.
"""

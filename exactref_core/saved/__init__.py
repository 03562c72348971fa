"""Checks in files: written when they fail, read and judged again anywhere."""

from exactref_core.saved.check import SavedCheck
from exactref_core.saved.files import read, unsaved, write
from exactref_core.saved.needs import load, modules_for

__all__ = ["SavedCheck", "load", "modules_for", "read", "unsaved", "write"]

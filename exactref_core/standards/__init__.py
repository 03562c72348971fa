"""The standards: which orders of addition are admitted, and how far they may lead."""

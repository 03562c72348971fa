"""The readings of a definition: exact (fast and certified), bounds, ordinary."""

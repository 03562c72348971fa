"""Number formats: what they hold, how a real number is rounded into them, how bits store them."""

"""Exact numbers and proven enclosures; the only home of gmpy2."""

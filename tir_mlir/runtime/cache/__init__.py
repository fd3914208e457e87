"""Compiled code kept between runs, and the fingerprint of what made it."""

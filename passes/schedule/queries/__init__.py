"""Primitives that look something up or sample a decision, and leave the program as it is."""

"""Primitives that only record facts: annotations and declared regions."""

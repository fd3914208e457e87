"""Primitives that make, replace or reorder blocks: blockize, tensorize."""

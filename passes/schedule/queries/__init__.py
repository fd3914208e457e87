"""Primitives that do not change the program: lookup of blocks and loops, and sampling of tile sizes and locations."""

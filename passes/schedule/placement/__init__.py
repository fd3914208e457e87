"""Primitives that move a block under a loop, or keep part of a buffer between iterations."""

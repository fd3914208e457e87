"""Primitives on loops: split, fuse, reorder, partition, merge, loop kinds."""

"""Primitives on the layout, storage scope, alignment and element type of buffers and blocks."""

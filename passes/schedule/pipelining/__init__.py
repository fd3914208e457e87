"""Primitives that let iterations of a loop overlap: pipeline, double_buffer."""

"""Primitives that merge a block into its consumers or its producer, and take parts out of it: compute_inline,
reverse_compute_inline, cache_value; inverting block indices and cloning block expressions.
"""

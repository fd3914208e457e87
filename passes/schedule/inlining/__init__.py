"""Primitives that merge a block into its consumers or its producer: compute_inline, reverse_compute_inline; inverting
block indices and cloning block expressions.
"""

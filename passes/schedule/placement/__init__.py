"""Primitives that move a block under a loop (compute_at, reverse_compute_at: which region is needed there, when
inputs are final), and rolling buffers.
"""

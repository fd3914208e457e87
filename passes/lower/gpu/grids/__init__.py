"""Fused indices of blocks as several axes, over which proofs need no divisions, and as one again."""

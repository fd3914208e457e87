"""Vectorization, reductions over lanes, and copies and transposes done in registers."""

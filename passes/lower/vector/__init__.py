"""Vectorization of loops, reductions over lanes, and copies, transposes and interleaving done in vector registers."""

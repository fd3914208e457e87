"""Primitives on reductions and padding: decompose_reduction, rfactor, reducers and identities, epilogues, pad_einsum,
decompose_padding, trim_reduction.
"""

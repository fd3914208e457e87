"""Primitives on reductions and on padding: decompose, rfactor, epilogues, pad_einsum."""

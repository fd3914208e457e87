"""Algebraic traits of arith ops, by name."""

from __future__ import annotations

ASSOCIATIVE = (
    "arith.addf", "arith.mulf", "arith.maximumf", "arith.minimumf", "arith.maxnumf", "arith.minnumf", "arith.addi",
    "arith.muli", "arith.maxsi", "arith.minsi", "arith.maxui", "arith.minui", "arith.andi", "arith.ori", "arith.xori",
)  # fmt: skip
"""Ops that a declared reduction may reassociate: floating-point sums and products too, by what a reduce iter means."""

COMMUTATIVE = ASSOCIATIVE
"""Ops whose two operands may be exchanged; among binary arith ops of numbers these are the same."""

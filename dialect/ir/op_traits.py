"""Algebraic traits of arith ops, by name."""

from __future__ import annotations

ASSOCIATIVE = (
    "arith.addf", "arith.mulf", "arith.maximumf", "arith.minimumf", "arith.maxnumf", "arith.minnumf", "arith.addi",
    "arith.muli", "arith.maxsi", "arith.minsi", "arith.maxui", "arith.minui", "arith.andi", "arith.ori", "arith.xori",
)  # fmt: skip
"""Ops that a declared reduction may reassociate, including floating-point sums and products."""

DIVISIONS = (
    "arith.divsi", "arith.divui", "arith.remsi", "arith.remui", "arith.floordivsi", "arith.ceildivsi",
    "arith.ceildivui",
)  # fmt: skip
"""Integer ops that trap on a zero."""

COMMUTATIVE = ASSOCIATIVE
"""Commutative ops; for binary arith ops they coincide with the associative ones."""

"""Traits of ops by name: the algebra of arith ops, and which take no buffer."""

from __future__ import annotations

from functools import lru_cache

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


@lru_cache(maxsize=1024)
def takes_no_memref(name: str) -> bool:
    """Whether ops of a name never have a memref operand, and so access nothing."""
    scalar = name.startswith(("arith.", "math.")) and name != "arith.select"
    return scalar or name in ("affine.apply", "affine.if", "affine.parallel", "scf.if")

"""Ways out of refusals that several primitives share: the `fix:` line of each, in one place."""

from __future__ import annotations

from tir_mlir.dialect.views import Loop

IN_INIT = "decompose_reduction takes the init out into a block of its own"
OPAQUE = "declare it spatial, or reduce where the order does not count"
NO_GUARD = "split by factors that divide the extent, or do this step before the split that made the guard"
ONE_EXTENT = "in the program, let it run to one of them, with T.where in the block for the others"
ONE_WRITER = "in the program, let one block write it, or give each writer a buffer of its own"


def from_zero(loop: Loop) -> str:
    """Of a loop that starts elsewhere."""
    return f"in the program, run {loop.name} from 0 and add its start in the bindings; take it before loop_partition"


def beneath(loop: Loop) -> str:
    """Of a loop that is not alone in the body it stands in."""
    return f"bring the rest beneath loop {loop.name} first: compute_at, reverse_compute_at, merge, or inline it"

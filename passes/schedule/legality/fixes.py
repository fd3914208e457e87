"""Texts of `fix:` lines shared by several primitives."""

from __future__ import annotations

from tir_mlir.dialect.ir import Block, Loop

IN_INIT = "decompose_reduction moves the init into a block of its own"
OPAQUE = "declare it spatial, or reduce if the order does not matter"
NO_GUARD = "split by factors that divide the extent, or apply this before the split that added the "
"guard"
ONE_EXTENT = "in the program, let it run to one of them and add a T.where for the others to the block"
ONE_WRITER = "apply this before the step that split the writer, or blockize the writers into one "
"block first"
OWN_LOOP = "pass one of its own loops"
ALONE = "pass an inner loop, or move the other statements away first (compute_at, compute_inline)"
IN_BLOCK = "in the program, put that statement into a block"
UNDER_ONE = "compute_at or reverse_compute_at puts producer and consumer under one loop as separate "
"blocks"
APART = "apply this before the step that put both under one loop; in the program, give each its "
"own loop nest"
START = "in the program, initialize the reduction with T.init"
WITH_INIT = f"apply this before decompose_reduction removes the init; {START}"
WHOLE_SUM = "in the program, run the loops in full and use T.if_then_else with the identity where "
"nothing is added"
ASSUMED = "rule out such sizes with T.assume at the top of the function"


def from_zero(loop: Loop) -> str:
    """Fix for a loop that does not start at 0."""
    return f"in the program, run {loop.name} from 0 and add the start in the bindings; or apply this "


"before loop_partition"


def beneath(loop: Loop) -> str:
    """Fix for a loop that is not the only op in its parent's body."""
    return f"move the other statements under loop {loop.name} first: compute_at, reverse_compute_at, "


"merge, or inline them"


def longest(loop: Loop) -> str:
    """Fix for a loop whose bounds depend on another loop."""
    return f"in the program, give {loop.name} its maximal range and the block a T.where that "


"excludes the rest"


def own_copy(block: Block) -> str:
    """Fix for a block whose result is visible outside the scope."""
    return f'cache_write of block "{block.name}" first, so that it writes an allocated buffer'


def unpadded(iters: str) -> str:
    """Fix for iters that cannot be extended."""
    return f"leave {iters} unpadded (padding 1)"


def inlined(producer: Block) -> str:
    """Fix for a consumer that cannot be merged into its producer."""
    return f'compute_inline of block "{producer.name}" moves its computation to the reads'


def any_index(buffer: str) -> str:
    """Fix for accesses that an index map of the iters cannot express."""
    return f"cache_read or cache_write copies {buffer} in its own layout, for any indices"


def to_copy(buffer: str) -> str:
    """Fix for a view of a buffer, or a pointer into it."""
    return f"cache_read or cache_write moves it to a copy and leaves only plain accesses to {buffer}"

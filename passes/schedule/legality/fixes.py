"""Ways out of refusals that several primitives share: the `fix:` line of each, in one place."""

from __future__ import annotations

from tir_mlir.dialect.ir import Block, Loop

IN_INIT = "decompose_reduction takes the init out into a block of its own"
OPAQUE = "declare it spatial, or reduce where the order does not count"
NO_GUARD = "split by factors that divide the extent, or do this step before the split that made the guard"
ONE_EXTENT = "in the program, let it run to one of them, with T.where in the block for the others"
ONE_WRITER = "do this before the step that took the writer apart, or blockize the writers into one block first"
OWN_LOOP = "name one of its own loops"
ALONE = "name a loop further in, or bring the rest elsewhere first (compute_at, compute_inline)"
IN_BLOCK = "in the program, put that statement into a block"
UNDER_ONE = "compute_at or reverse_compute_at puts producer and reader under one loop, each a block of its own"
APART = "do this before the step that put the two under one loop; in the program, give each a nest of its own"
START = "in the program, start the sum by T.init"
WITH_INIT = f"do this before decompose_reduction takes the init out; {START}"
WHOLE_SUM = "in the program, let the loops run in full, T.if_then_else choosing the identity where nothing is added"
ASSUMED = "T.assume at the top of the function rules such sizes out"


def from_zero(loop: Loop) -> str:
    """Of a loop that starts elsewhere."""
    return f"in the program, run {loop.name} from 0 and add its start in the bindings; take it before loop_partition"


def beneath(loop: Loop) -> str:
    """Of a loop that is not alone in the body it stands in."""
    return f"bring the rest beneath loop {loop.name} first: compute_at, reverse_compute_at, merge, or inline it"


def longest(loop: Loop) -> str:
    """Of a loop whose bounds use another one."""
    return f"in the program, give {loop.name} its longest range, and the block a T.where for what is too much"


def own_copy(block: Block) -> str:
    """Of a block whose result others see."""
    return f'cache_write of block "{block.name}" first: then it computes an allocated copy'


def unpadded(iters: str) -> str:
    """Of iters that cannot get longer."""
    return f"leave {iters} unpadded (padding 1)"


def inlined(producer: Block) -> str:
    """Of a consumer that cannot be merged into its producer."""
    return f'compute_inline of block "{producer.name}" puts what it computes where it is read'


def any_index(buffer: str) -> str:
    """Of accesses that a map of the iters cannot follow."""
    return f"cache_read or cache_write copies {buffer} in its own layout, whatever the indices"


def to_copy(buffer: str) -> str:
    """Of a view of a buffer, or a pointer into it."""
    return f"cache_read or cache_write turns it to a copy, and leaves {buffer} plain accesses only"

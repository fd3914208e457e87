"""Texts of `fix:` lines shared by several primitives."""

from __future__ import annotations

from tir_mlir.dialect.ir import Block, Loop

DECOMPOSE_REDUCTION = "decompose_reduction moves the init into a block of its own"
AVOID_GUARD = "split by factors that divide the extent, or apply this before the split that added the guard"
USE_ONE_BOUND = "in the program, let it run to one of them and add a T.where for the others to the block"
JOIN_WRITERS = "apply this before the step that split the writer, or blockize the writers into one block first"
PASS_OWN_LOOP = "pass one of its own loops"
PASS_INNER_LOOP = "pass an inner loop, or move the other statements away first (compute_at, compute_inline)"
WRAP_IN_BLOCK = "in the program, put that statement into a block"
MOVE_UNDER_ONE_LOOP = "compute_at or reverse_compute_at puts producer and consumer under one loop as separate blocks"
SEPARATE_NESTS = "apply this before the step that put both under one loop; in the program, give each its own loop nest"
USE_ELEMENTS = "in the program, access the elements one by one, under a loop T.vectorized(n)"
ADD_INIT = "in the program, initialize the reduction with T.init"
KEEP_INIT = f"apply this before decompose_reduction removes the init; {ADD_INIT}"
RUN_FULL_REDUCTION = (
    "in the program, run the loops in full and use T.if_then_else with the identity where nothing is added"
)
ASSUME_SIZES = "rule out such sizes with T.assume at the top of the function"


def start_at_zero(loop: Loop) -> str:
    """Fix for a loop that does not start at 0."""
    return (
        f"in the program, run {loop.name} from 0 and add the start in the bindings; or apply this before loop_partition"
    )


def move_rest_inside(loop: Loop) -> str:
    """Fix for a loop that is not the only op in its parent's body."""
    return (
        f"move the other statements under loop {loop.name} first: compute_at, reverse_compute_at, merge, or inline them"
    )


def use_longest_range(loop: Loop) -> str:
    """Fix for a loop whose bounds depend on another loop."""
    return f"in the program, give {loop.name} its maximal range and the block a T.where that excludes the rest"


def cache_write_first(block: Block) -> str:
    """Fix for a block whose result is visible outside the scope."""
    return f'cache_write of block "{block.name}" first, so that it writes an allocated buffer'


def leave_unpadded(iters: str) -> str:
    """Fix for iters that cannot be extended."""
    return f"leave {iters} unpadded (padding 1)"


def inline_producer(producer: Block) -> str:
    """Fix for a consumer that cannot be merged into its producer."""
    return f'compute_inline of block "{producer.name}" moves its computation to the reads'


def copy_whole_buffer(buffer: str) -> str:
    """Fix for accesses that an index map of the iters cannot express."""
    return f"cache_read or cache_write copies {buffer} in its own layout, for any indices"


def copy_view(buffer: str) -> str:
    """Fix for a view of a buffer, or a pointer into it."""
    return f"cache_read or cache_write moves it to a copy and leaves only plain accesses to {buffer}"

"""The schedule primitives: their registry, and how they refuse. Each is a `Schedule` method, a trace step and a pass.

A primitive is a function over views (`Loop`, `Block`) and plain values: docstring (rewrite before -> after, invariant,
requirements), then all checks, then the edits. It runs no clean-up pass. The caller keeps a copy of the module and goes
on with that when the primitive raises. What several primitives refuse with the same words, and the `fix:` lines that
several of them give, are here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NoReturn

from mlir import ir

from tir_mlir.dialect.diagnostics import Counterexample, ScheduleError, ScheduleWarning
from tir_mlir.dialect.ir import Block, Buffer, Loop, View, warn_at_user
from tir_mlir.dialect.ir.op_views import AffineVectorAccessOp, PointerOp, isa


def is_vector_access(op: ir.Operation) -> bool:
    """Whether an op loads or stores several elements."""
    return isa(op, AffineVectorAccessOp)


def use_words(user: ir.Operation) -> str:
    """What an op that is not a plain load or store does with a buffer."""
    if is_vector_access(user):
        return "a vector access (several elements)"
    return "a pointer into it" if isa(user, PointerOp) else user.name


@dataclass(frozen=True)
class Sample:
    """Result of a sampling primitive: the decision recorded in the trace, the values it stands for, its name."""

    decision: Any
    results: Any
    name: str = ""


Moves = Literal["nothing", "in place", "under its loop", "into others", "anywhere"]
"""Where a primitive may let accesses run. "nothing": no access moves, or only within the iterations of one loop nest.
"in place": a block remains under the conditions and in the iterations around it. "under its loop": what is under the
loop changes, a condition around the loop remains around all of it. "into others": other blocks, at their place, compute
what a block reads or writes.
"""


@dataclass(frozen=True)
class Primitive:
    """A registered primitive. `pure` primitives do not change the module.

    `samples` is the result type of a primitive that makes a random decision and returns a `Sample`.

    moves: where it may let accesses run.
    keeps_order: it keeps the order of all accesses, or decides it by dependences, which know what parameters may alias;
        so does one that moves nothing.
    marks: it sets the kind of loops or annotations and edits nothing else; no rule of the verifier reads those.
    proves: unset where no program makes the step illegal, so that there is nothing to prove; every other step says what
        it proved (`proved`).
    """

    name: str
    run: Callable[..., Any]
    pure: bool = False
    samples: Any = None
    moves: Moves = "anywhere"
    keeps_order: bool = False
    marks: bool = False
    proves: bool = True

    @cached_property
    def signature(self) -> inspect.Signature:
        return inspect.signature(self.run, eval_str=True)

    @cached_property
    def parameters(self) -> dict[str, inspect.Parameter]:
        """The parameters by name, in order."""
        return dict(self.signature.parameters)

    @cached_property
    def positional(self) -> tuple[str, ...]:
        """The parameters that an argument without a name may be of."""
        return tuple(k for k, p in self.parameters.items() if p.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD)

    @cached_property
    def variadic(self) -> str | None:
        """The name of the `*args` parameter, if it has one."""
        kinds = self.parameters.values()
        return next((p.name for p in kinds if p.kind is inspect.Parameter.VAR_POSITIONAL), None)

    @cached_property
    def returns(self) -> Any:
        """The annotated result type."""
        return self.samples or self.signature.return_annotation

    @property
    def doc(self) -> str:
        return inspect.getdoc(self.run) or ""


PRIMITIVES: dict[str, Primitive] = {}


def primitive(
    name: str,
    pure: bool = False,
    samples: Any = None,
    moves: Moves = "anywhere",
    keeps_order: bool = False,
    marks: bool = False,
    proves: bool = True,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function as the primitive `name` (TVM's name, with underscores). The rest: see `Primitive`."""

    def register(run: Callable[..., Any]) -> Callable[..., Any]:
        PRIMITIVES[name] = Primitive(name, run, pure, samples, moves, keeps_order or moves == "nothing", marks, proves)
        return run

    return register


# --- refusals ---------------------------------------------------------------------------------------------------------


def refuse(
    culprit: View | ir.Operation | None,
    message: str,
    provable: bool = True,
    counterexample: Counterexample | None = None,
    fix: str = "",
) -> NoReturn:
    """Raise `ScheduleError`. `culprit` is marked in the printed program.

    `provable=False`: legality could not be decided. `fix`: what the user can do instead.
    """
    op = culprit.op if isinstance(culprit, View) else culprit
    raise ScheduleError(message, op, provable, counterexample=counterexample, fix=fix)


def check(holds: bool, culprit: View | ir.Operation | None, message: str, fix: str = "") -> None:
    """Refuse unless `holds`."""
    if not holds:
        refuse(culprit, message, fix=fix)


def warn(message: str) -> None:
    """Warn at the user's line that part of a request has no effect. The step goes on."""
    warn_at_user(message, ScheduleWarning)


_STEP = {"parallel": "parallel", "vectorized": "vectorize", "unrolled": "unroll"}


def check_plain(loop: Loop, what: str) -> None:
    """Refuse a loop whose annotations or thread binding a rewrite would drop."""
    check(
        not loop.annotations,
        loop,
        f"loop {loop.name} has annotations {sorted(loop.annotations)}, which {what} would drop; unannotate it first",
    )
    check_no_thread(loop, what)


def check_no_thread(loop: Loop, what: str) -> None:
    """Refuse a loop whose thread binding a rewrite would drop."""
    check(not loop.is_thread, loop, f"loop {loop.name} is bound to {loop.kind}; {what} it before binding")


def warn_serial(loops: Iterable[Loop], what: str) -> None:
    """Warn that `what` replaces loops that are not serial by serial ones."""
    for loop in loops:
        if loop.kind in _STEP and loop.const_extent not in (0, 1):
            warn(
                f"loop {loop.name} was {loop.kind}; {what} makes serial loops; apply {_STEP[loop.kind]} to one of them"
            )


def warn_replaced(loop: Loop, kind: str) -> None:
    """Warn that a loop takes another kind instead of the one that it has."""
    if loop.kind not in ("serial", kind):
        warn(f"loop {loop.name} was {loop.kind}, and is only {kind} now: a loop has one kind; split it to have both")


def check_only_inner(outer: Loop, inner: Loop, why: str = "", fix: str = "") -> None:
    """Refuse unless the body of a loop is just the loop in it; `why` it has to be."""
    text = f"the body of loop {outer.name} contains more than loop {inner.name}{why}"
    check(len(outer.body_ops()) == 1, outer, text, fix or move_rest_inside(inner))


def check_from_zero(loop: Loop, what: str) -> None:
    """Refuse a loop that does not run from 0 to a single bound."""
    start = loop.lower.as_constant()
    start_text = "a variable" if start is None else start
    if start != 0:
        refuse(
            loop,
            f"loop {loop.name} starts at {start_text}; {what} needs a loop that starts at 0",
            fix=start_at_zero(loop),
        )
    check_bounds(loop, what)


def check_bounds(loop: Loop, what: str) -> None:
    """Refuse a loop that does not run from one start to one end."""
    several = [("starts", "maximum")] * (len(loop.lowers) > 1) + [("ends", "minimum")] * (len(loop.uppers) > 1)
    for word, which in several[:1]:
        text = f"loop {loop.name} {word} at the {which} of several bounds; {what} needs a single one"
        refuse(loop, text, fix=USE_ONE_BOUND)


# --- fixes that several primitives give -------------------------------------------------------------------------------

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


def copy_in_and_out(buffer: Buffer) -> str:
    """Fix for a block that reads what it has written."""
    return f"cache_inplace copies {buffer.name} in before the block and out after it"


def copy_whole_buffer(buffer: str) -> str:
    """Fix for accesses that an index map of the iters cannot express."""
    return f"cache_read or cache_write copies {buffer} in its own layout, for any indices"


def copy_view(buffer: str) -> str:
    """Fix for a view of a buffer, or a pointer into it."""
    return f"cache_read or cache_write moves it to a copy and leaves only plain accesses to {buffer}"

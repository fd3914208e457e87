"""What holds of every step, whichever primitive it is of.

Before it: no access moves in or out of a loop over data (`scf.for`, `scf.while`) that holds blocks: what an iteration
leaves for the next is not modeled. After it: no parallel, vectorized or thread-bound loop carries a dependence;
parameters that may alias (`tir.noalias = False`) are accessed in the order of before; new loops and iters are of int64
where their buffers, bounds or bindings are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from mlir import ir

from tir_mlir.dialect.analysis import alias_text, aliased_pair, dependences, has_distinct_buffers
from tir_mlir.dialect.analysis.accesses import touches
from tir_mlir.dialect.diagnostics import Counterexample, NotProvable
from tir_mlir.dialect.incremental import ChangedNests, contents_of
from tir_mlir.dialect.incremental.nests import DATA_LOOP
from tir_mlir.dialect.ir import (
    Block,
    Buffer,
    Func,
    Index,
    Loop,
    View,
    attrs,
    data_loop_name,
    freeze_modules,
    fresh_query_cache,
    func_of,
    funcs,
    is_block,
    is_bound_value,
    is_data_loop,
    is_loop,
    is_warp_loop,
    ops,
    parent_op,
    parents,
    walk,
)
from tir_mlir.dialect.ir.op_traits import has_no_memref
from tir_mlir.dialect.ir.op_views import AffineForOp, LoadOp, ScfIfOp, isa
from tir_mlir.passes.schedule.legality.parameter_order import keeps_order, parameter_accesses
from tir_mlir.passes.schedule.registry import PRIMITIVES, refuse

_SPLIT = "in the program, put the condition into the block: T.if_then_else, or an if in its body"
_BIND = "apply this step first, while the iter is bound to a loop"
_FIX = "in the program, put the whole loop into the body of one block"


def check_data_loops(step: str, views: Iterable[View]) -> None:
    """Refuse, as not provable, a step that could move an access in or out of a loop over data that holds blocks, or
    put one next to the writes of its other iterations.

    The domain of a block in such a loop has no dimension for the loop's iterations. To a step on blocks outside, the
    loop is one op that may access what its blocks do, in any order; a step inside that moves nothing between
    iterations sees those of all of them as one. A loop over data in the body of a block without nested blocks is not a
    obstacle: the block moves as a whole.
    """
    targets = [v for v in views if isinstance(v, Loop | Block | Func)]
    moves = PRIMITIVES[step].moves
    if moves == "nothing" or not targets:
        return
    ends = [v.op for v in targets if isinstance(v, Loop)] if moves == "under its loop" else []
    for view in targets if moves != "in place" else ():
        if condition := _condition_of(view, ends):
            why, fix = _decides(condition, view)
            refuse(view, f"{why}, and this step could run it elsewhere", provable=False, fix=fix)
    if moves == "in place":
        return
    for loop in _loops_with_blocks(func_of(targets[0].op).op):
        for view in targets:
            if isinstance(view, Func):
                continue
            if loop in parents(view.op):
                _refuse(view, f"is in {data_loop_name(loop)}")
            if moves == "into others" and (shared := _written_in(loop, view.op)) is not None:
                _refuse(view, f"uses {Buffer(shared).name}, which blocks in {data_loop_name(loop)} write")


def _decides(condition: ir.Operation, view: View) -> tuple[str, str]:
    """What decides whether a block runs, as part of a sentence, and the way out."""
    search = parent_op(condition)
    if is_bound_value(search):
        return f"{data_loop_name(search)}, decides where {view!r} runs", _BIND
    return f"{view!r} runs only where a condition on data holds", _SPLIT


def _refuse(view: View, what: str) -> None:
    text = f"{view!r} {what}, and what its iterations leave for each other is not modeled"
    refuse(view, text, provable=False, fix=_FIX)


def _loops_with_blocks(func: ir.Operation) -> list[ir.Operation]:
    """The loops over data around blocks; not those that only find the value of an iter, which run once."""
    contents = contents_of(func)
    inner = ops(func) if contents is None or DATA_LOOP in contents.index else []
    return [op for op in inner if is_data_loop(op) and not is_bound_value(op) and any(is_block(o) for o in ops(op))]


def _condition_of(view: View, ends: Sequence[ir.Operation]) -> ir.Operation | None:
    """The condition on data between a block and its scope, or the first of `ends` around the block."""
    for parent in parents(view.op):
        if is_block(parent) or parent in ends or not isinstance(view, Block):
            return None
        if isa(parent, ScfIfOp):
            return parent
    return None


def _written_in(loop: ir.Operation, op: ir.Operation) -> ir.Value | None:
    """A buffer that an op touches and a loop writes."""
    touched = {t.buffer for t in touches(op)}
    return next((t.buffer for t in touches(loop) if t.is_write and t.buffer in touched), None)


def check_concurrency(
    step: str,
    old_module: Callable[[], ir.Module | ir.Operation],
    new_module: ir.Module,
    changed: ChangedNests | None = None,
) -> None:
    """Refuse a step that introduces a dependence between iterations of a parallel, vectorized or thread-bound loop.

    A step can do so by moving a block under such a loop, by removing the reader that kept a buffer private to an
    iteration, or by moving the loop outwards. Dependences that existed before the step are ignored. `changed`: what the
    step changed, if known; other loops are as before.
    """
    if PRIMITIVES[step].marks or step == "set_scope":  # these move no access, or check the loop themselves
        return
    with freeze_modules():
        roots = [new_module.operation] if changed is None else changed.affected
        clashes = {loop.id: (loop, clash) for loop in _concurrent(roots) if (clash := _clash(loop)) is not None}
    if not clashes:
        return
    with fresh_query_cache():
        dependent_before = {
            loop.id for loop in _concurrent([old_module().operation]) if loop.id in clashes and _clash(loop) is not None
        }
    for number, (loop, clash) in clashes.items():
        if number not in dependent_before:
            refuse(
                loop,
                f"the iterations of the {loop.kind} loop {loop.name} would depend on each other: {clash}",
                counterexample=clash if isinstance(clash, Counterexample) else None,
                fix=f"keep loop {loop.name} serial until after this step, or unroll it",
            )


def _concurrent(roots: Sequence[ir.Operation]) -> list[Loop]:
    loops = [Loop(view.op) for root in roots for view in walk.views_in(root, AffineForOp)]
    return [loop for loop in loops if loop.kind not in ("serial", "unrolled") and not is_warp_loop(loop)]


def _clash(loop: Loop) -> Counterexample | str | None:
    try:
        return dependences.loop_carried_conflict(loop)
    except NotProvable as error:
        return str(error)


def check_aliasing(step: str, old_module: Callable[[], ir.Module | ir.Operation], new_module: ir.Module) -> None:
    """Refuse a step that may change the order of accesses to parameters that may be the same memory.

    The proofs of most primitives compare accesses to one buffer only. If a function accesses two parameters that may
    alias, one of them written, those steps are legal only where they keep the order of all accesses to parameters, as
    those that change the blocks around them do, or the accesses to allocated buffers (see `parameter_order`).
    """
    if PRIMITIVES[step].keeps_order:
        return
    doubtful = [f for f in funcs(new_module) if not has_distinct_buffers(f.op)]
    with fresh_query_cache():
        old = {f.name: f for f in (funcs(old_module()) if doubtful else [])}
        pairs = {name: aliased_pair(f.op) for name, f in old.items()}
        orders = {f.name: parameter_accesses(old[f.name]) for f in doubtful if _is_changed(f, old)}
    for func in doubtful:
        if func.name not in orders:
            continue
        pair = pairs[func.name] or aliased_pair(func.op)
        if pair is not None and not keeps_order(orders[func.name], parameter_accesses(func)):
            refuse(
                None,
                f"{step} may change the order of accesses: {alias_text(func.op, pair)}",
                provable=False,
                fix="remove tir.noalias = False if calls never pass overlapping arrays",
            )


def _is_changed(func: Func, old: Mapping[str, Func]) -> bool:
    return func.name in old and str(func.op) != str(old[func.name].op)


Declaration = tuple[ir.Operation, str, object]


def index_types(nests: Iterable[ir.Operation], first: int) -> list[Declaration]:
    """The attributes that declare the loops and iters created since id `first` as int64, where they have to be.

    A loop is of int64 if a bound is, or an iter bound to it; an iter if its domain or its binding is. So are a new loop
    and a new iter that index a buffer with a shape of int64.
    """
    types = _IndexTypes(first)
    for nest in nests:
        for op in walk.ops(nest):
            types.add(op)
    while types.propagate():
        pass
    return types.declarations()


class _IndexTypes:
    """The loops and blocks of some nests, and which of their variables are of int64."""

    def __init__(self, first: int):
        self.first = first
        self.loops: list[Loop] = []
        self.new: dict[ir.Value, Loop] = {}  # new loops by their variables
        self.blocks: list[Block] = []
        self.wide: set[ir.Value] = set()
        self.indices: set[ir.Value] = set()  # of buffers with a shape of int64
        self.declared: dict[ir.Value, bool] = {}  # whether a value is declared as int64
        self.shapes: dict[ir.Value, bool] = {}  # whether it is a buffer with a shape of int64

    def add(self, op: ir.Operation) -> None:
        if is_loop(op):
            self.loops.append(loop := Loop(op))
            if self._is_new(loop):
                self.new[loop.var] = loop
        elif is_block(op):
            self.blocks.append(Block(op))
        elif not has_no_memref(op) and any(map(self._has_wide_shape, (*op.operands, *op.results))):
            self.indices.update(_leaves(v for v in op.operands if isinstance(v.type, ir.IndexType)))

    def propagate(self) -> bool:
        """Add the variables whose type follows from those found so far; False if there are none."""
        old_count = len(self.wide)
        for variable, loop in self.new.items():
            bounds = (v for bound in (*loop.lowers, *loop.uppers) for v in bound.values)
            if variable in self.indices or any(map(self._is_wide, bounds)):
                self.wide.add(variable)
        for block in self.blocks:
            self._propagate_block(block)
        return len(self.wide) > old_count

    def _propagate_block(self, block: Block) -> None:
        new = self._is_new(block)
        for it in block.iters:
            parts: tuple[Index, ...] = (it.min, it.extent, it.binding) if new else (it.binding,)
            if (new and it.var in self.indices) or any(self._is_wide(v) for part in parts for v in part.values):
                self.wide.add(it.var)
            if self._is_wide(it.var):
                self.wide.update(v for v in it.binding.values if v in self.new)

    def _is_new(self, view: Loop | Block) -> bool:
        return view.id >= self.first

    def _is_wide(self, value: ir.Value) -> bool:
        if value not in self.declared:
            self.declared[value] = attrs.is_wide(value)
        return self.declared[value] or value in self.wide

    def _has_wide_shape(self, value: ir.Value) -> bool:
        if value not in self.shapes:
            is_buffer = isinstance(value.type, ir.MemRefType)
            self.shapes[value] = is_buffer and Buffer(value).root.attributes.get(attrs.EXTENT_DTYPE) == attrs.WIDE
        return self.shapes[value]

    def declarations(self) -> list[Declaration]:
        """The attributes to set."""
        loops = (lp for lp in self.loops if lp.var in self.wide and not attrs.is_wide(lp.var))
        changes: list[Declaration] = [(lp.op, attrs.DTYPE, attrs.WIDE) for lp in loops]
        for block in self.blocks:
            names = {it.name: attrs.WIDE for it in block.iters if self._is_wide(it.var)}
            if len(names) > len(attrs.get(block.op, attrs.DTYPES, {})):
                changes.append((block.op, attrs.DTYPES, names))
        return changes


def _leaves(values: Iterable[ir.Value]) -> set[ir.Value]:
    """The variables of loops and blocks from which indices are computed, other than by loads."""
    pending, seen, leaves = list(values), set[ir.Value](), set[ir.Value]()
    while pending:
        value = pending.pop()
        if value in seen:
            continue
        seen.add(value)
        if isinstance(value.owner, ir.Block):
            leaves.add(value)
        elif not isa(value.owner, LoadOp):
            pending += [v for v in value.owner.operands if not isinstance(v.type, ir.MemRefType)]
    return leaves

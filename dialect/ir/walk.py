"""Loops and blocks in and around an op, the affine maps of ops, the users of buffers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence, Set
from functools import lru_cache

from mlir import ir

from tir_mlir.dialect.diagnostics import NotAffine
from tir_mlir.dialect.ir import attrs
from tir_mlir.dialect.ir.index import Constraint, Index, read_map
from tir_mlir.dialect.ir.memo import ENTRIES, cache_while_frozen
from tir_mlir.dialect.ir.op_traits import index_operands
from tir_mlir.dialect.ir.op_views import (
    AffineIfOp,
    AffineParallelOp,
    AffineYieldOp,
    CompareIntegersOp,
    DataLoopOp,
    FuncOp,
    ScfIfOp,
    V,
    WhileOp,
    isa,
    matches,
)
from tir_mlir.dialect.ir.traversal import direct_ops, top_of, visit
from tir_mlir.dialect.ir.traversal import find as find
from tir_mlir.dialect.ir.traversal import op_with_id as op_with_id
from tir_mlir.dialect.ir.traversal import ops as ops
from tir_mlir.dialect.ir.traversal import parents as parents
from tir_mlir.dialect.ir.views import (
    Block,
    Func,
    Loop,
    is_block,
    is_data_where,
    is_init,
    is_loop,
    is_where,
)

_ADVANCE, _SKIP = ir.WalkResult.ADVANCE, ir.WalkResult.SKIP


def views_in(root: ir.Operation, kind: type[V]) -> list[V]:
    """The views of `root` and all nested ops that have a class, pre-order."""
    names = kind.names
    return [kind(op) for op in ops(root) if op.name in names]


def enclosing_block(op: ir.Operation) -> Block | Func:
    """The innermost block (or function, the root block) that contains an op."""
    for parent in parents(op):
        if is_block(parent):
            return Block(parent)
        if isa(parent, FuncOp):
            return Func(parent)
    raise ValueError("an op outside any function has no enclosing block")


def loops_above(op: ir.Operation) -> list[Loop]:
    """The loops around an op, outer to inner, up to its enclosing block, without those that only find a binding."""
    loops: list[Loop] = []
    for parent in parents(op):
        if is_block(parent):
            break
        if is_loop(parent) and not is_bound_value(parent):
            loops.append(Loop(parent))
    return loops[::-1]


def loops_behind(nest: Sequence[Loop], values: Set[ir.Value]) -> list[Loop]:
    """The loops of a nest that define some values, and those on which the bounds of such loops depend."""
    needed, loops = set(values), []
    for loop in reversed(nest):
        if loop.var in needed:
            loops.append(loop)
            needed.update(v for bound in (*loop.lowers, *loop.uppers) for v in bound.values)
    return loops[::-1]


def blocks_below(op: ir.Operation, with_init: bool = False) -> list[Block]:
    """The outermost blocks inside a loop, block or function, in program order (init regions are not entered)."""
    return [Block(o) for o in _outermost_blocks(op.operation, with_init)]


@cache_while_frozen
def _outermost_blocks(top: ir.Operation, with_init: bool) -> list[ir.Operation]:
    blocks: list[ir.Operation] = []

    def look(inner: ir.Operation) -> ir.WalkResult:
        name = inner.name
        if name in AffineParallelOp.names and is_block(inner) and inner != top:
            blocks.append(inner)
            return _SKIP
        return _SKIP if name in AffineIfOp.names and not with_init and is_init(inner) and inner != top else _ADVANCE

    visit(top, look)
    return blocks


def all_blocks(root: ir.Operation) -> list[Block]:
    """Every block under `root`, including nested blocks and those in inits, pre-order."""
    return [Block(o) for o in ops(root) if o.name in AffineParallelOp.names and is_block(o)]  # few ops are asked twice


def is_inside(op: ir.Operation, outer: ir.Operation) -> bool:
    """Whether `op` is `outer` or is nested in it."""
    return op == outer or any(p == outer for p in parents(op))


def child_towards(outer: ir.Operation, op: ir.Operation) -> ir.Operation:
    """The op directly in `outer`'s body that contains (or is) `op`."""
    current = op.operation
    for parent in parents(op):
        if parent == outer.operation:
            return current
        current = parent
    raise ValueError("the op is not nested in the given one")


def common_parent(items: Sequence[ir.Operation]) -> ir.Operation:
    """The innermost op that contains all of `items`."""
    chains = [parents(op)[::-1] for op in items]
    last = chains[0][0]
    for level in zip(*chains, strict=False):
        if any(op != level[0] for op in level):
            break
        last = level[0]
    return last


def is_data_loop(op: ir.Operation) -> bool:
    """Whether an op is a loop with bounds or a condition computed from data."""
    return isa(op, DataLoopOp) or is_bound_value(op)


def is_bound_value(op: ir.Operation) -> bool:
    """Whether a loop only finds the value of an iter that is not affine (see `create.bound_value`)."""
    return is_loop(op) and attrs.BIND in op.attributes


def bound_value(op: ir.Operation) -> tuple[ir.Value, ir.Operation] | None:
    """The value of such a loop, and the `scf.if` that holds its body; None for any other op."""
    body = direct_ops(op) if is_bound_value(op) else []
    if not matches(body, CompareIntegersOp, ScfIfOp, AffineYieldOp) or len(body[1].regions[1].blocks):
        return None
    test, branch = CompareIntegersOp(body[0]), ScfIfOp(body[1])
    variable, value = op.regions[0].blocks[0].arguments[0], test.rhs
    same = test.predicate == 0 and branch.condition == test.result
    return (value, branch.op) if same and test.lhs == variable != value else None


def outermost_with_searches(block: Block) -> ir.Operation:
    """The outermost guard of a block or search for its bindings, or its op."""
    top = block.op
    while (parent := top.parent) is not None:
        above = parent.operation
        if is_where(above) or is_data_where(above):
            top = above
        elif isa(above, ScfIfOp) and above.parent is not None and is_bound_value(above.parent.operation):
            top = above.parent.operation
        else:
            break
    return top


def data_loop_name(op: ir.Operation) -> str:
    """A loop over data in words: `loop k, whose bounds are data`."""
    if is_bound_value(op):
        return f"the binding of iter {attrs.get(op, attrs.LOOP, 'i')}, which is not affine"
    if isa(op, WhileOp):
        return "a while loop"
    return f"loop {attrs.get(op, attrs.LOOP, 'i')}, whose bounds are data"


def without_unit_loops(index: Index) -> Index:
    """The index with the variables of loops of one iteration replaced by their value."""
    units = {}
    for value in index.values:
        op = value.owner.owner.operation if isinstance(value.owner, ir.Block) else None
        if op is not None and is_loop(op) and Loop(op).var == value and Loop(op).const_extent == 1:
            first = Loop(op).lower.as_constant()
            if first is not None:
                units[value] = Index.constant(first)
    return index.substitute(units).simplify() if units else index.simplify()


def enclosing_loop_name(value: ir.Value) -> str | None:
    """The name of the loop with induction variable `value`; None for other values."""
    owner = value.owner
    if isinstance(owner, ir.Block) and is_loop(owner.owner.operation):
        return Loop(owner.owner).name
    return None


def position(op: ir.Operation) -> int:
    """Position of an op in its MLIR block, by bisection: a body may be long."""
    listed = op.operation.block.operations
    low, high = 0, len(listed) - 1
    while low < high:
        middle = (low + high) // 2
        if listed[middle].operation.is_before_in_block(op.operation):
            low = middle + 1
        else:
            high = middle
    return low


def position_of_many(op: ir.Operation) -> int:
    """The same, for a caller that asks for most ops of a block while modules are frozen."""
    return _positions(op.operation.block)[op.operation]


@cache_while_frozen
def _positions(block: ir.Block) -> dict[ir.Operation, int]:
    return {o.operation: i for i, o in enumerate(block.operations)}


# --- affine ops: reading and rewriting their maps -----------------------------------------------------------------


@lru_cache(maxsize=ENTRIES)
def parse_set(text: str) -> tuple[ir.AffineMap, tuple[bool, ...]]:
    """An integer set as a map of its expressions, and flags of the equalities."""
    match = re.fullmatch(r"affine_set<(\([^)]*\)(?:\[[^\]]*\])?) : \((.*)\)>", text)
    if match is None:
        raise ValueError(f"unexpected integer set {text}")
    parts = [p.strip() for p in match[2].split(",")]
    kinds = tuple("==" in p for p in parts)
    exprs = ", ".join(re.sub(r"\s*(==|>=)\s*0$", "", p) for p in parts)
    try:
        return ir.AffineMapAttr(ir.Attribute.parse(f"affine_map<{match[1]} -> ({exprs})>")).value, kinds
    except ir.MLIRError:  # pyright: ignore[reportAttributeAccessIssue]  MLIR prints -2**63 and does not read it
        raise NotAffine(f"the condition {exprs} contains a constant that does not fit an index (64 bits)") from None


@lru_cache(maxsize=ENTRIES)
def _condition(set_: ir.Attribute) -> tuple[ir.AffineMap, tuple[bool, ...]]:
    return parse_set(str(set_))


@cache_while_frozen
def constraints(if_op: ir.Operation) -> list[Constraint]:
    """The conjunction of an `affine.if` (its set is parsed from text: the bindings cannot read it)."""
    map_, kinds = _condition(if_op.attributes["condition"])
    indices = read_map(map_, list(if_op.operands))
    return [Constraint(i, k) for i, k in zip(indices, kinds, strict=True)]


@cache_while_frozen
def access_indices(op: ir.Operation) -> list[Index]:
    """The index expressions of an affine load or store, of an element or a vector."""
    return read_map(attrs.map_of(op.attributes["map"]), index_operands(op))


# --- uses and ancestors ---------------------------------------------------------------------------------------------


def used_outside(op: ir.Operation) -> ir.Operation | None:
    """An op outside `op` that uses a value defined by `op` or inside it; None if there is none."""
    inner = ops(op)
    inner_set = set(inner)
    for inner_op in inner:
        values = [
            *inner_op.results,
            *(a for region in inner_op.regions for block in region.blocks for a in block.arguments),
        ]
        for user in (use.owner.operation for value in values for use in value.uses):
            if user not in inner_set:
                return user
    return None


def module_of(op: ir.Operation) -> ir.Operation:
    """The module around an op."""
    while op.parent is not None:
        op = op.parent.operation
    return op


# attributes: `mlir` of an IRModule; `alone` of a PrimFunc (the module of that function only); `mod` of a schedule
_ATTRIBUTES = ("mlir", "isolated_module", "mod")


def held_module(program: object) -> ir.Module | None:
    """The `ir.Module` of an IRModule, a PrimFunc, a Schedule or a module itself; None for anything else."""
    for _ in range(len(_ATTRIBUTES)):
        if isinstance(program, ir.Module):
            return program
        name = next((name for name in _ATTRIBUTES if hasattr(program, name)), None)
        if name is None:
            return None
        program = getattr(program, name)
    return program if isinstance(program, ir.Module) else None


# --- uses of buffers --------------------------------------------------------------------------------------------------


@cache_while_frozen
def users(buffer: ir.Value) -> list[ir.Operation]:
    """The ops in the body of a function that use a buffer, or a view of it, inside or directly. In no order."""
    found: dict[ir.Operation, None] = {}
    tops: dict[ir.Operation | None, ir.Operation] = {}  # by the op around: most uses share it with others
    for use in buffer.uses:
        owner = use.owner.operation
        parent = owner.parent
        around = None if parent is None else parent.operation
        top = tops.get(around)
        if top is None:
            top = top_of(owner)
            if top != owner:
                tops[around] = top
        found[top] = None
        for result in owner.results:
            if isinstance(result.type, ir.MemRefType):
                found.update(dict.fromkeys(users(result)))
    return list(found)


def nests_using(buffers: Iterable[ir.Value]) -> list[ir.Operation]:
    """The ops in the body of a function that use one of the buffers, in program order."""
    return _in_order(list(dict.fromkeys(top for buffer in buffers for top in users(buffer))))


def _in_order(tops: list[ir.Operation]) -> list[ir.Operation]:
    """Sort ops of one block. A merge sort: an op knows only whether it is before another one."""
    if len(tops) < 2:
        return tops
    first, second = _in_order(tops[: len(tops) // 2]), _in_order(tops[len(tops) // 2 :])
    merged: list[ir.Operation] = []
    while first and second:
        merged.append((first if first[0].is_before_in_block(second[0]) else second).pop(0))
    return merged + first + second

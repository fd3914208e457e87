"""Values that a block computes by casts and arithmetic on its iters, as for a resized image: the index in
`A[int(vi * 0.5)]`, and the weight `vi * 0.5 - floor(vi * 0.5)`."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from mlir import ir

from tir_mlir.dialect.ir import Block, Index, create, defining_op, edit, is_apply, is_inside, ops, read_apply, signs
from tir_mlir.dialect.ir.op_traits import (
    COMPUTED_ACCESSES,
    DIVISIONS,
    ELEMENT_STORES,
    LOADS,
    TO_FLOAT,
    both_signs,
    index_operands,
    is_pure,
    is_scalar,
)
from tir_mlir.passes.schedule.edits import canonical

_CASTS = TO_FLOAT | both_signs("arith.extsi") | {"arith.index_cast", "arith.trunci"}


@dataclass(frozen=True)
class ComputedIndex:
    """An integer that some accesses take as an index, or a part of stored values: equal computations of it, and the
    iters that they use.
    """

    values: tuple[ir.Value, ...]
    iters: tuple[ir.Value, ...]

    @property
    def dtype(self) -> str:
        return signs.dtype_of(self.values[0]) or "int32"

    def steps(self) -> list[ir.Operation]:
        """The ops that compute the values, each before the ops that compute its operands."""
        found: dict[ir.Operation, None] = {}
        for value in self.values:
            for op in _tree(value):
                found.pop(op, None)
                found[op] = None
        return list(found)

    def redirect(self, load: Callable[[], ir.Value], others: AbstractSet[ir.Operation]) -> None:
        """Let what uses the values, other than some ops, take a loaded value instead."""
        steps = self.steps()
        for value in self.values:
            places = [(use.owner.operation, use.operand_number) for use in value.uses]
            for user, number in [(op, n) for op, n in places if op not in others]:
                with ir.InsertionPoint(user), user.location:
                    edit.set_operand(user, number, load())
        for op in steps:
            if not any(True for r in op.results for _ in r.uses):
                edit.drop(op)


def computed_indices(block: Block, often: int, wanted: Callable[[Index], bool]) -> list[ComputedIndex]:
    """What a block computes at least `often` times: indices of its accesses, then the largest parts of the values that
    it stores, each in order of appearance.

    `wanted`: whether an index expression that they use may be computed in another block.
    """

    def may_move(value: ir.Value) -> bool:
        leaves = _leaves(value)
        inside = all(is_inside(op, block.op) or op.name == "arith.constant" for op in _tree(value))
        return bool(leaves) and inside and all(map(wanted, leaves or [])) and not any(map(_may_trap, _tree(value)))

    stored = [op.operands[0] for op in ops(block.op) if op.name in ELEMENT_STORES]
    found_values = [v for v in _index_values(block) if may_move(v)]
    found_values += [part for value in stored for part in _largest_parts(value, may_move)]
    groups: dict[tuple, list[ir.Value]] = {}
    for value in found_values:
        groups.setdefault(_key(value), []).append(value)
    found = []
    for values in groups.values():
        if len(values) >= often:
            used = {v for leaf in _leaves(values[0]) or [] for v in leaf.values}
            found.append(
                ComputedIndex(tuple(dict.fromkeys(values)), tuple(i.var for i in block.iters if i.var in used))
            )
    return found


def _index_values(block: Block) -> list[ir.Value]:
    """The integers that accesses of a block take as an index, other than plain index expressions."""
    found = []
    for op in ops(block.op):
        for value in index_operands(op) if op.name in COMPUTED_ACCESSES else []:
            cast = defining_op(value)
            source = defining_op(cast.operands[0]) if cast is not None and cast.name == "arith.index_cast" else None
            if cast is not None and source is not None and source.name != "arith.index_cast":
                found.append(cast.operands[0])
    return found


def _may_trap(op: ir.Operation) -> bool:
    """Whether an op divides integers by a value that may be 0 where the block does not run."""
    divisor = defining_op(op.operands[1]) if op.name in DIVISIONS else None
    return op.name in DIVISIONS and (divisor is None or divisor.name != "arith.constant")


def _largest_parts(value: ir.Value, may_move: Callable[[ir.Value], bool]) -> list[ir.Value]:
    """The largest subexpressions of a value that may move, except comparisons and casts of index expressions."""
    op = defining_op(value)
    if op is None or len(op.regions) or not is_scalar(op.name):
        return []
    if may_move(value) and signs.dtype_of(value) not in (None, "bool") and not _is_cast_index(value):
        return [value]
    return [part for operand in op.operands for part in _largest_parts(operand, may_move)]


def _is_cast_index(value: ir.Value) -> bool:
    """Whether a value is an index expression, cast to another type."""
    op = defining_op(value)
    return op is None or op.name == "affine.apply" or (op.name in _CASTS and _is_cast_index(op.operands[0]))


def _tree(value: ir.Value) -> list[ir.Operation]:
    """The ops that compute a value, each before the ops that compute its operands; index expressions are leaves."""
    op = defining_op(value)
    if op is None:
        return []
    return [op] if op.name == "affine.apply" else [op, *(inner for v in op.operands for inner in _tree(v))]


def _leaves(value: ir.Value) -> list[Index] | None:
    """The index expressions that a value is computed from; None if it is computed from anything else."""
    op = defining_op(value)
    if op is None or op.name == "affine.apply":
        return [_index(value)] if isinstance(value.type, ir.IndexType) else None
    if len(op.regions) or not is_pure(op) or op.name in LOADS or len(op.results) != 1:
        return None
    parts = [_leaves(v) for v in op.operands]
    return None if any(p is None for p in parts) else [leaf for p in parts for leaf in p or []]


def _index(value: ir.Value) -> Index:
    return read_apply(value) if is_apply(value) else Index.of(value)


def _key(value: ir.Value) -> tuple:
    """Equal for two values that are computed in the same way."""
    op = defining_op(value)
    if op is None or op.name == "affine.apply":
        return ("index", canonical(_index(value)))
    facts = tuple((name, str(op.attributes[name])) for name in op.attributes if not name.startswith("tir."))
    return (op.name, str(value.type), facts, *map(_key, op.operands))


def clone_tree(value: ir.Value, ip: ir.InsertionPoint, here: dict[ir.Value, Index]) -> ir.Value:
    """Clone the computation of a value, with iters replaced."""
    with ip:
        done = {old: create.apply(new) for old, new in here.items()}
    for op in reversed(list(dict.fromkeys(_tree(value)))):
        if op.name == "affine.apply":
            with ip:
                done[op.results[0]] = create.apply(read_apply(op.results[0]).substitute(here))
        elif not all(o in done for o in op.results):
            done |= dict(zip(op.results, edit.clone(op, ip, done).results, strict=True))
    return done.get(value, value)

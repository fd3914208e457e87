"""Indices that a block computes by casts and arithmetic on its iters, as for a resized image: `A[int(vi * 0.5)]`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mlir import ir

from tir_mlir.dialect.ir import Block, Index, create, defining_op, edit, is_apply, is_inside, ops, read_apply, signs
from tir_mlir.passes.schedule.edits import canonical

_INDEXED = {"memref.load": 1, "memref.store": 2}  # the first index among the operands


@dataclass(frozen=True)
class ComputedIndex:
    """An integer that some accesses take as an index: equal computations of it, and the iters that they use."""

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

    def redirect(self, load: Callable[[], ir.Value]) -> None:
        """Let the accesses take a loaded value in place of the computed ones."""
        steps = self.steps()
        for value in self.values:
            for use in [u for u in value.uses if u.owner.name == "arith.index_cast"]:
                cast = use.owner.operation
                with ir.InsertionPoint(cast), cast.location:
                    edit.set_operand(cast, 0, load())
        for op in steps:
            if not any(True for r in op.results for _ in r.uses):
                edit.drop(op)


def computed_indices(block: Block, often: int, wanted: Callable[[Index], bool]) -> list[ComputedIndex]:
    """The indices of the accesses of a block that are computed at least `often` times, in order of appearance.

    `wanted`: whether an index expression that they use may be computed in another block.
    """
    groups: dict[tuple, list[ir.Value]] = {}
    for value in _index_values(block):
        leaves = _leaves(value)
        inside = all(is_inside(op, block.op) or op.name == "arith.constant" for op in _tree(value))
        if leaves and inside and all(map(wanted, leaves)):
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
        for value in list(op.operands)[_INDEXED[op.name] :] if op.name in _INDEXED else []:
            cast = defining_op(value)
            source = defining_op(cast.operands[0]) if cast is not None and cast.name == "arith.index_cast" else None
            if cast is not None and source is not None and source.name != "arith.index_cast":
                found.append(cast.operands[0])
    return found


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
    if len(op.regions) or not edit.is_pure(op) or "load" in op.name or len(op.results) != 1:
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

"""What an instruction computes: its description, compiled for this CPU, and the elements that it accesses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np
from mlir import ir

from tir_mlir.accel.instruction import MachineInstruction
from tir_mlir.accel.operands import Tile
from tir_mlir.accel.program import HostCode
from tir_mlir.build import build
from tir_mlir.dialect.computation import scalar_params
from tir_mlir.dialect.computation.scalar_params import ExtentLimit
from tir_mlir.dialect.computation.scalar_tree import CHOICE, STORE, Leaf, OpNode, Tree, conditions_in
from tir_mlir.dialect.ir import Func, Index, attrs, edit, enter_context
from tir_mlir.dialect.ir.op_views import IndexCastSIOp, isa
from tir_mlir.runtime.library import Library
from tir_mlir.runtime.scheduled_programs import built_as_given
from tir_mlir.script.module import IRModule

Array = np.ndarray[tuple[int, ...], np.dtype[np.generic]]
Points = np.ndarray[tuple[int, ...], np.dtype[np.intp]]
Mask = np.ndarray[tuple[int, ...], np.dtype[np.bool_]]


@lru_cache(maxsize=256)
def model_of(instruction: MachineInstruction) -> Library:
    """What an instruction computes, compiled for this CPU: a function of its operands in order."""
    assert instruction.intrinsic is not None
    with enter_context(), built_as_given():  # a description is not a program of the user
        parsed = instruction.intrinsic.desc_func()
        _pass_as_integers(parsed.func)
        if extent_limits(instruction):  # what lies behind smaller tiles may be another operand
            given = attrs.get(parsed.func.op, attrs.ATTRS, {})
            attrs.put(parsed.func.op, attrs.ATTRS, {**given, "tir.noalias": False})
        return build(IRModule(parsed.module))


def _pass_as_integers(func: Func) -> None:
    """Give numbers that are values only their own types: an index of a call is a size, which is never negative."""
    for value in func.args:
        casts = [use.owner.operation for use in value.uses] if isinstance(value.type, ir.IndexType) else []
        types = {str(op.results[0].type): op.results[0].type for op in casts if isa(op, IndexCastSIOp)}
        if len(types) != 1 or not all(isa(op, IndexCastSIOp) for op in casts):
            continue
        edit.retype(value, next(iter(types.values())))
        for op in casts:
            edit.replace_uses(op.results[0], value)
            edit.erase(op)
    kind = ir.FunctionType(ir.TypeAttr(func.op.attributes["function_type"]).value)
    types = [value.type for value in func.args]
    func.op.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(types, kind.results))


def model_arguments(
    instruction: MachineInstruction, tiles: Sequence[Array], numbers: Sequence[int | float]
) -> list[Array | int | float]:
    """The arguments of `model_of`, from those for the tiles and those for the numbers."""
    of_tiles, of_numbers = iter(tiles), iter(numbers)
    return [next(of_tiles) if isinstance(o, Tile) else next(of_numbers) for o in instruction.operands]


@lru_cache(maxsize=256)
def compiled_statements(statements: HostCode) -> Library:
    """Statements on the CPU, compiled: a function of their buffers and loop variables."""
    with built_as_given():
        return build(statements.code.module)


@lru_cache(maxsize=256)
def extent_limits(instruction: MachineInstruction) -> dict[str, dict[int, ExtentLimit]]:
    """The dimensions of tiles of which only so much is touched as a number says, and how much."""
    assert instruction.intrinsic is not None
    with enter_context():
        return scalar_params.extent_limits(instruction.intrinsic.form())


def touched_shape(instruction: MachineInstruction, tile: Tile, numbers: Mapping[str, int | float]) -> tuple[int, ...]:
    """How much of a tile an instruction touches at most, where its sizes are these numbers."""
    limits = extent_limits(instruction).get(tile.name, {})
    return tuple(_touched_size(n, limits.get(d), numbers) for d, n in enumerate(tile.shape))


def _touched_size(size: int, limit: ExtentLimit | None, numbers: Mapping[str, int | float]) -> int:
    if limit is None:
        return size
    number = int(numbers[limit.size])
    return min(size, limit.factor * number + limit.rest) if number > 0 else 0


def accessed_elements(instruction: MachineInstruction, numbers: Mapping[str, int | float]) -> dict[str, Mask]:
    """Which elements of what it touches of each tile an instruction reads or writes, where its sizes are these
    numbers."""
    sizes = tuple(int(numbers[n.name]) for n in instruction.numbers if n.high is not None)
    return _accessed_elements(instruction, sizes)


@lru_cache(maxsize=4096)
def _accessed_elements(instruction: MachineInstruction, limits: tuple[int, ...]) -> dict[str, Mask]:
    if instruction.intrinsic is None:
        return {}
    numbers = dict(zip((n.name for n in instruction.numbers if n.high is not None), limits, strict=True))
    found = {t.name: np.zeros(touched_shape(instruction, t, numbers), bool) for t in instruction.tiles}
    with enter_context():
        form = instruction.intrinsic.form()
        sizes = {p.value: Index.constant(numbers.get(p.name, 0)) for p in form.sizes}
        extents = [_number(axis.extent, sizes) for axis in form.axes]
        points: Points = np.indices(extents).reshape(len(extents), -1)
        holds = [_holds(np.array(c.row) @ points + _number(c.base, sizes), c.is_eq) for c in form.conditions]
        always: Mask = np.ones(points.shape[1], bool)
        used: dict[int, Mask] = {n: ~always for n in range(len(form.operands))}
        _add_used(form.payload, always, holds, used)
        used[form.output] = _stored_mask(form.payload, holds, always)
        for number, operand in enumerate(form.operands):
            starts = np.array([[_number(b, sizes)] for b in operand.base])
            indices = (np.array(operand.rows) @ points + starts)[:, used[number]]
            found[operand.buffer.name][tuple(indices)] = True
    return found


def _number(index: Index, sizes: Mapping[ir.Value, Index]) -> int:
    number = index.substitute(sizes).simplify().as_constant()
    assert number is not None
    return number


def _holds(values: Points, is_equality: bool) -> Mask:
    return values == 0 if is_equality else values >= 0


def _all_hold(tree: Tree, holds: Sequence[Mask], always: Mask) -> Mask:
    """Where the conditions of a node ALL hold."""
    return np.logical_and.reduce([always, *(holds[n] for n in conditions_in(tree))])


def _stored_mask(tree: Tree, holds: Sequence[Mask], always: Mask) -> Mask:
    """Where the value of a payload is stored."""
    return _all_hold(tree.children[0], holds, always) if isinstance(tree, OpNode) and tree.op == STORE else always


def _add_used(tree: Tree, where: Mask, holds: Sequence[Mask], used: dict[int, Mask]) -> None:
    """Add the points at which the operands of a tree are read, if the tree is computed at the points `where`."""
    if isinstance(tree, Leaf):
        used[tree.operand] = used[tree.operand] | where
    elif isinstance(tree, OpNode) and tree.op in (CHOICE, STORE):
        test = _all_hold(tree.children[0], holds, where)
        sides = [test, where & ~test]
        for child, side in zip(tree.children[1:], sides, strict=False):
            _add_used(child, side, holds, used)
    elif isinstance(tree, OpNode):
        for child in tree.children:
            _add_used(child, where, holds, used)

"""Raise block nests to linalg ops on buffers, in place."""

from __future__ import annotations

import re
from dataclasses import dataclass

from mlir import ir

from tir_mlir.dialect.computation import Form, NotRaisable, raise_form
from tir_mlir.dialect.diagnostics import LinalgError, NotAffine, NotProvable
from tir_mlir.dialect.ir import Block, Func, Loop, attrs, create, edit, funcs, is_block, is_loop, walk
from tir_mlir.dialect.ir.lowering_op_views import LinalgGenericOp
from tir_mlir.dialect.ir.op_views import isa
from tir_mlir.passes.linalg import prepare
from tir_mlir.passes.linalg.emit_linalg import LinalgEmitter
from tir_mlir.passes.linalg.extents import restore_shape_variables


@dataclass(frozen=True)
class UnraisedBlock:
    """A block that could not be raised, and the reason; `location` is `file:line:column` or empty."""

    func: str
    block: str
    reason: str
    location: str = ""

    def __str__(self) -> str:
        return f'block "{self.block}" of {self.func} remains: {self.reason}'


def to_linalg(module: ir.Module, named: bool = False, strict: bool = False) -> list[UnraisedBlock]:
    """Replace every block nest that is a pure tensor computation by `linalg.generic`, its init by `linalg.fill`.

        for i, j, k in T.grid(n, m, l):
            with T.block("C"): ...
    -->
        linalg.fill ins(%zero) outs(%C)
        linalg.generic {iterator_types = ["parallel", "parallel", "reduction"]} ins(%A, %B) outs(%C) {...}

    Other blocks remain and are reported with the reason. `named`: upstream specializes generics to named ops where
    possible. `strict`: raises LinalgError for a block that remains.
    """
    stayed: list[UnraisedBlock] = []
    for func in funcs(module):
        _raise_below(func.op, func, stayed, strict)
        edit.fold_applies(func.op)
    if named:
        specialize(module)
        for func in funcs(module):
            restore_shape_variables(func)
    return stayed


def _raise_below(parent: ir.Operation, func: Func, stayed: list[UnraisedBlock], strict: bool) -> None:
    """Raise the nests in the body of a function or loop, the largest possible ones."""
    for op in [o.operation for o in parent.regions[0].blocks[0].operations]:
        if not is_loop(op) and not len(op.regions):
            continue
        reason = _raise_nest(op)
        if reason is None:
            continue
        inner = [o for o in Loop(op).body_ops() if len(o.regions)] if is_loop(op) else []
        if any(is_loop(o) for o in inner):
            count = len(stayed)
            _raise_below(op, func, stayed, strict and len(inner) > 1)
            if len(stayed) == count or len(inner) > 1:
                continue
            del stayed[count:]  # a single nest: the reason for the whole nest is more specific
        blocks = [(block.name, block.op.location) for block in _blocks(op)] or [("", op.location)]
        reasons = [UnraisedBlock(func.name, name, reason, _location_text(location)) for name, location in blocks]
        if strict:
            raise LinalgError(str(reasons[0]), blocks[0][1])
        stayed += reasons


def _blocks(op: ir.Operation) -> list[Block]:
    return [Block(op)] if is_block(op) else walk.blocks_below(op)


def _raise_nest(op: ir.Operation) -> str | None:
    """Replace a nest by linalg ops; returns the reason if that is not possible."""
    lone = is_block(op) and bool(Block(op).iters)
    top = _in_unit_loop(op) if lone else op
    try:
        form, name = _form(top)
        writer = LinalgEmitter(form)
    except (NotRaisable, NotProvable, NotAffine) as error:
        if lone:
            op.move_before(top)
            top.erase()
        return str(error)
    with ir.InsertionPoint(top), ir.Location.name(name, _block_location(top)):
        writer.write()
    top.erase()
    return None


def _in_unit_loop(op: ir.Operation) -> ir.Operation:
    """Wrap a block without loops in a loop of extent 1, so that it is a nest."""
    with ir.InsertionPoint(op), op.location:
        loop = create.loop("once", 0, 1)
    op.move_before(list(loop.body.operations)[-1])
    return loop.op


def _form(op: ir.Operation) -> tuple[Form, str]:
    if not is_loop(op) and not is_block(op):
        raise NotRaisable(f"it is an {op.name}", op)
    form = raise_form(Loop(op) if is_loop(op) else Block(op), numbers=True)
    blocks = _blocks(op)
    while blocks and (inner := walk.blocks_below(blocks[0].op)):
        blocks = inner
    return form, blocks[0].name if blocks else "generic"


def _location_text(location: ir.Location) -> str:
    """`file:line:column` of a location."""
    match = re.search(r'"((?:[^"\\]|\\.)*)":(\d+):(\d+)', str(location))
    return f"{match[1]}:{match[2]}:{match[3]}" if match else ""


def _block_location(op: ir.Operation) -> ir.Location:
    block = next(iter(_blocks(op)), None)
    return block.op.location if block is not None else op.location


_KINDS = "iterator_types"
_KEPT = "tir.kinds"


def specialize(module: ir.Module) -> None:
    """Specialize generics to named ops, in place.

    Upstream specializes a convolution of a plain image to `conv_1d`, `conv_2d`, `conv_3d` even if its windows have a
    stride, which these ops cannot express. Such generics are disguised while the pass runs.
    """
    for op in walk.ops(module.operation):
        if isa(op, LinalgGenericOp) and _is_spaced(op):
            kinds = op.attributes[_KINDS]
            op.attributes[_KEPT] = kinds
            op.attributes[_KINDS] = ir.ArrayAttr.get([_parallel()] * len(ir.ArrayAttr(kinds)))
    prepare.run_upstream(module, ["func.func(linalg-specialize-generic-ops)"])
    for op in walk.ops(module.operation):
        if _KEPT in op.attributes:
            op.attributes[_KINDS] = op.attributes[_KEPT]
            del op.attributes[_KEPT]


def _parallel() -> ir.Attribute:
    return ir.Attribute.parse("#linalg.iterator_type<parallel>")


def _is_spaced(op: ir.Operation) -> bool:
    """Whether a generic is a convolution without batches and channels whose windows have a stride."""
    maps = [ir.AffineMapAttr(a).value for a in ir.ArrayAttr(op.attributes["indexing_maps"])]
    if attrs.integers(op, "operandSegmentSizes") != [2, 1] or maps[0].n_dims != 2 * len(maps[-1].results):
        return False
    return any(_has_factor(e.maybe_downcast()) for map_ in maps[:-1] for e in map_.results)


def _has_factor(expr: ir.AffineExpr) -> bool:
    if isinstance(expr, ir.AffineMulExpr):
        return True
    return isinstance(expr, ir.AffineAddExpr) and any(_has_factor(e.maybe_downcast()) for e in (expr.lhs, expr.rhs))

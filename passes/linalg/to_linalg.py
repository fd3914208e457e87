"""Loops and blocks -> linalg on buffers, in place."""

from __future__ import annotations

import re
from dataclasses import dataclass

from mlir import ir

from tir_mlir.dialect import constants, create, walk
from tir_mlir.dialect.errors import LinalgError, NotAffine, NotProvable
from tir_mlir.dialect.forms import Form, NotRaisable
from tir_mlir.dialect.linalg_form import raise_form
from tir_mlir.dialect.views import Block, Func, Loop, funcs, is_block, is_loop
from tir_mlir.passes.linalg.naming import specialize
from tir_mlir.passes.linalg.sizes import restore
from tir_mlir.passes.linalg.write import Writer


@dataclass(frozen=True)
class Stayed:
    """A block that is still a block, and what about it no linalg op can say; `place` is `file:line:column` or empty."""

    func: str
    block: str
    reason: str
    place: str = ""

    def __str__(self) -> str:
        return f'block "{self.block}" of {self.func} stays: {self.reason}'


def to_linalg(module: ir.Module, named: bool = False, strict: bool = False) -> list[Stayed]:
    """Replace every block nest that is a pure tensor computation by `linalg.generic`, its init by `linalg.fill`.

        for i, j, k in T.grid(n, m, l):
            with T.block("C"): ...
    -->
        linalg.fill ins(%zero) outs(%C)
        linalg.generic {iterator_types = ["parallel", "parallel", "reduction"]} ins(%A, %B) outs(%C) {...}

    What is no such computation stays as it is and is reported, with the reason. `named`: upstream gives generics the
    name of the op that they are, where there is one. `strict`: what stays is a LinalgError.
    """
    stayed: list[Stayed] = []
    for func in funcs(module):
        _raise_below(func.op, func, stayed, strict)
        constants.fold_applies(func.op)
    if named:
        specialize(module)
        for func in funcs(module):
            restore(func)
    return stayed


def _raise_below(around: ir.Operation, func: Func, stayed: list[Stayed], strict: bool) -> None:
    """Raise the nests in the body of a function or loop, the largest that can be raised."""
    for op in [o.operation for o in around.regions[0].blocks[0].operations]:
        if not is_loop(op) and not len(op.regions):
            continue
        reason = _raise_nest(op)
        if reason is None:
            continue
        inner = [o for o in Loop(op).body_ops() if len(o.regions)] if is_loop(op) else []
        if any(is_loop(o) for o in inner):
            before = len(stayed)
            _raise_below(op, func, stayed, strict and len(inner) > 1)
            if len(stayed) == before or len(inner) > 1:
                continue
            del stayed[before:]  # one nest: what stops the whole of it says more
        blocks = [(block.name, block.op.location) for block in _blocks(op)] or [("", op.location)]
        found = [Stayed(func.name, name, reason, _shown(location)) for name, location in blocks]
        if strict:
            raise LinalgError(str(found[0]), blocks[0][1])
        stayed += found


def _blocks(op: ir.Operation) -> list[Block]:
    return [Block(op)] if is_block(op) else walk.blocks_below(op)


def _raise_nest(op: ir.Operation) -> str | None:
    """Put linalg ops in the place of a nest; the reason when that cannot be."""
    lone = is_block(op) and bool(Block(op).iters)
    top = _wrapped(op) if lone else op
    try:
        form, name = _form(top)
        writer = Writer(form)
    except (NotRaisable, NotProvable, NotAffine) as error:
        if lone:
            op.move_before(top)
            top.erase()
        return str(error)
    with ir.InsertionPoint(top), ir.Location.name(name, _place(top)):
        writer.write()
    top.erase()
    return None


def _wrapped(op: ir.Operation) -> ir.Operation:
    """A block outside of loops in a loop that runs once: its iters are then those of a nest."""
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


def _shown(location: ir.Location) -> str:
    """`file:line:column` of a location."""
    found = re.search(r'"((?:[^"\\]|\\.)*)":(\d+):(\d+)', str(location))
    return f"{found[1]}:{found[2]}:{found[3]}" if found else ""


def _place(op: ir.Operation) -> ir.Location:
    block = next(iter(_blocks(op)), None)
    return block.op.location if block is not None else op.location

"""Which calls of programs can be merged: those whose sizes are the program's own."""

from __future__ import annotations

from typing import Any

from mlir import ir

from tir_mlir.dialect.graph import Node, TensorFunc, create
from tir_mlir.dialect.ir import attrs, parent_op
from tir_mlir.passes.graph import size_code


def is_exact(node: Node) -> bool:
    """Whether the types of a call are those of the program's parameters, with the same names of sizes.

    Not of a program for any size that is called with numbers, nor of one whose n is the 2 * n of its caller.
    """
    callee = node.callee
    if callee is None or not create.is_exact(node):
        return False
    func = TensorFunc(parent_op(node.op))
    program = ir.SymbolTable(parent_op(func.op))[callee.callee].operation
    types = [*map(func.type_of, node.inputs), *node.types]
    return all(_same_shape(type_.shape, attrs.of_argument(program, number)) for number, type_ in enumerate(types))


def _same_shape(sizes: tuple[int | str, ...], facts: Any) -> bool:
    """Whether named sizes are those of a parameter, which has them as affine expressions of its symbols."""
    symbols = list(facts.get(attrs.SYMS, []))
    named = [(axis, size) for axis, size in enumerate(sizes) if isinstance(size, str)]
    if not all(set(size_code.symbols(size)) <= set(symbols) for _, size in named):
        return False
    exprs = facts[attrs.SHAPE].results if attrs.SHAPE in facts else []
    return all(size_code.affine(size, symbols) == exprs[axis] for axis, size in named if exprs)

"""Run the iterations of a loop in reverse: if results differ, they depend on each other."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.ir import Func, Loop, clone_module, funcs, is_loop, substitute, walk


def in_reverse(module: ir.Module, loop: Loop, func: Func) -> ir.Module | None:
    """`for i in range(a, b): f(i)` -> `for i in range(a, b): f(a + b - 1 - i)`, in a copy of the module.

    None if the loop has several lower or upper bounds.
    """
    if len(loop.lowers) != 1 or len(loop.uppers) != 1:
        return None
    number = _loops(func).index(loop.op)
    copy = clone_module(module)
    same = next(f for f in funcs(copy) if f.name == func.name)
    copied_loop = Loop(_loops(same)[number])
    substitute({copied_loop.var: copied_loop.lower + copied_loop.upper - 1 - copied_loop.var}, copied_loop.op)
    return copy


def _loops(func: Func) -> list[ir.Operation]:
    return [op for op in walk.ops(func.op) if is_loop(op)]

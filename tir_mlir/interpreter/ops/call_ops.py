"""Calls: functions of the module, and kernels through intrinsic descriptions or Python functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mlir import ir

from tir_mlir.dialect.computation import TensorIntrin
from tir_mlir.dialect.diagnostics import NotInterpreted
from tir_mlir.dialect.ir import funcs, walk
from tir_mlir.dialect.ir.op_views import CallOp, isa
from tir_mlir.equivalence import described_kernels
from tir_mlir.interpreter.codegen import DYNAMIC, FunctionWriter, Shared, writes
from tir_mlir.interpreter.kinds import kind_of, size
from tir_mlir.interpreter.memory import Pointer, View

if TYPE_CHECKING:
    pass


@writes("func.call")
def call(w: FunctionWriter, op: ir.Operation) -> None:
    callee = ir.FlatSymbolRefAttr(op.attributes["callee"]).value
    passed = [w.roots.argument_root(v) for v in op.operands]
    function = next((f for f in funcs(w.shared.module) if f.name == callee), None)
    if callee not in w.shared.kernels and function is None and (match := described_kernels.match_at(op)) is not None:
        _describe(w, op, match)
        return
    if callee in w.shared.kernels:
        name = w.keep(w.shared.kernels[callee], f"kernel_{callee}")
    elif function is not None:
        name = w.shared.function(function, passed)
    else:
        name = w.keep(Described(w.shared, callee, passed), f"{callee}_{len(w.shared.scope)}")
    results = [w.define(r) for r in op.results]
    args = [w.variables[v] if isinstance(v.type, ir.MemRefType) else w.value(v) for v in op.operands]
    text = f"{name}({', '.join(args)})"
    has_uses = any(True for r in op.results for _ in r.uses)
    if results and (function is not None or has_uses):
        w.put(f"{', '.join(results)} = {text}")
    else:
        w.put(text)
    for result in op.results:
        w.unpack(result)


def _describe(w: FunctionWriter, op: ir.Operation, match: described_kernels.KernelMatch) -> None:
    """Run the description of an intrinsic instead of the first of the calls that implement it, of others nothing."""
    if match.calls[0] != op:
        return
    parsed = match.intrinsic.desc_func()
    w.shared.alive.append(parsed)
    memrefs = [match.arguments.memrefs[n] for n in range(len(parsed.func.args))]
    name = w.shared.function(parsed.func, [w.roots.argument_root(m) for m in memrefs], anywhere=True)
    w.put(f"{name}({', '.join(w.variables[m] for m in memrefs)})")


_POINTERS = ("pointer", "base")


@dataclass(frozen=True)
class _Fit:
    """An intrinsic whose implementation calls the kernel: the arguments it passes, its parameters, and its description
    as a Python function."""

    given: Sequence[described_kernels.TracedValue]
    params: Sequence[ir.Value]
    shapes: Sequence[tuple[tuple[int, ...], tuple[int, ...], int]]
    meaning: str
    python: str


class Described:
    """A kernel executed as the description of its intrinsic. Raises NotInterpreted if there is none."""

    def __init__(self, shared: Shared, callee: str, passed: Sequence[str | None]):
        self.callee = callee
        self.scope = shared.scope
        TensorIntrin.get(callee, allow_missing=True)  # registers a built-in intrinsic
        intrinsics = [TensorIntrin.get(name) for name in TensorIntrin.list()]
        self.fits = [fit for i in intrinsics if i is not None and (fit := self._fit(shared, i, passed)) is not None]
        if not self.fits:
            raise NotInterpreted(
                f'the function "{callee}" has no body, and no registered intrinsic describes it; '
                f'pass kernels={{"{callee}": a Python function}}, or register the intrinsic (TensorIntrin.register)'
            )

    def _fit(self, shared: Shared, intrinsic: TensorIntrin, passed: Sequence[str | None]) -> _Fit | None:
        if f"@{self.callee}(" not in intrinsic.impl:
            return None
        implementation, parsed = intrinsic.impl_func(), intrinsic.desc_func()
        shared.alive += [implementation, parsed]
        impl = implementation.func
        calls = [described_kernels.call_of(op) for op in walk.ops(impl.op) if isa(op, CallOp)]
        if len(calls) != 1 or calls[0].callee != self.callee or len(calls[0].given) != len(passed):
            return None
        pattern, offsets = calls[0].given, {}
        for number, what in enumerate(pattern):
            if isinstance(what, tuple) and what[0] in _POINTERS:
                offsets.setdefault(what[1], number)
        plain = all(not isinstance(what, tuple) or what[0] in (*_POINTERS, "stride") for what in pattern)
        if any(a not in offsets for a in impl.args) or None in pattern or not plain:
            return None
        names = [passed[offsets[a]] for a in impl.args]
        python = shared.function(parsed.func, names, anywhere=True)
        return _Fit(
            pattern,
            impl.args,
            [_layout(a) for a in impl.args],
            described_kernels.canonical_description(intrinsic.desc),
            python,
        )

    def __call__(self, *args: object) -> None:
        matches = [(fit, views) for fit in self.fits if (views := _bind_views(fit, args)) is not None]
        if len({fit.meaning for fit, _ in matches}) != 1:
            reason = "several intrinsics with different descriptions match" if matches else "no intrinsic matches"
            raise NotInterpreted(f'{reason} this call of "{self.callee}"; pass kernels={{...}}')
        fit, views = matches[0]
        self.scope[fit.python](*views)


def _layout(value: ir.Value) -> tuple[tuple[int, ...], tuple[int, ...], int]:
    """Shape and strides (DYNAMIC if arbitrary) of a parameter, and the bytes of an element."""
    type_ = ir.MemRefType(value.type)
    return tuple(type_.shape), tuple(type_.get_strides_and_offset()[0]), size(kind_of(type_))


def _bind_views(fit: _Fit, args: Sequence[Any]) -> list[View] | None:
    """The views bound to the parameters; None if constants differ, or a stride is not passed or no multiple."""
    pointers: dict[ir.Value, Pointer] = {}
    steps: dict[tuple[ir.Value, int], int] = {}
    for what, arg in zip(fit.given, args, strict=True):
        if not isinstance(what, tuple):
            if what != arg:
                return None
        elif what[0] in _POINTERS:
            pointers[what[1]] = arg
        elif arg % what[3]:
            return None
        else:
            steps[what[1], what[2]] = arg // what[3]
    views = []
    for param, (shape, strides, width) in zip(fit.params, fit.shapes, strict=True):
        actual_strides = [steps.get((param, d), s) for d, s in enumerate(strides)]
        if any(s == DYNAMIC and n != 1 for s, n in zip(actual_strides, shape, strict=True)):
            return None
        pointer = pointers[param]
        memory = pointer.memory
        views.append(
            View(memory.name, memory, pointer.element(width), shape, [0 if s == DYNAMIC else s for s in actual_strides])
        )
    return views

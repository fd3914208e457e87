"""Construction of traces by hand, as in TVM's tests: `BlockRV()`, `Instruction(kind, inputs, attrs, outputs)`."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any, TypeAlias
from weakref import WeakValueDictionary

from tir_mlir.dialect.diagnostics import TraceError, short_repr
from tir_mlir.dialect.symbolic import parse_formula
from tir_mlir.schedule.handles import BlockHandle, ExprHandle, Handle, LoopHandle, new_serial
from tir_mlir.schedule.trace.instruction import Instruction as Step
from tir_mlir.schedule.trace.instruction import InstructionKind
from tir_mlir.schedule.trace.json_text import step_of
from tir_mlir.te import Tensor, Var
from tir_mlir.te.expr import Expr, rename_keys


class _Alias(type):
    """An alias of a class of this package, with the constructor of TVM."""

    stands_for: type

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, cls.stands_for)


class _NewHandle(_Alias):
    def __call__(cls) -> Handle:
        serial = new_serial()
        return cls.stands_for(serial, -1, serial)


class BlockRV(metaclass=_NewHandle):
    """The handle of a block that a step of a trace returns."""

    stands_for = BlockHandle


class LoopRV(metaclass=_NewHandle):
    """The handle of a loop that a step of a trace returns."""

    stands_for = LoopHandle


class ExprRV(metaclass=_NewHandle):
    """The handle of an integer that a step of a trace returns."""

    stands_for = ExprHandle


class _NewStep(_Alias):
    def __call__(
        cls,
        kind: InstructionKind,
        inputs: Sequence[TraceValue],
        attrs: Sequence[TraceValue],
        outputs: Sequence[TraceValue],
    ) -> Step:
        return step_of(kind, _with_handles(inputs), _with_handles(attrs), _with_handles(outputs))


TraceValue: TypeAlias = "Handle | Expr | Tensor | Sequence[TraceValue] | str | bool | int | float | None"
_RESULTS: WeakValueDictionary[str, ExprHandle] = WeakValueDictionary()
"""The handles of variables, by their keys."""


def _with_handles(value: TraceValue) -> Any:
    """A value with a handle for each variable: TVM has variables for the integers that steps return.

        [loop, Var("v0"), Var("v1") * 4] -> [loop, v0, v1 * 4]

    Errors: TraceError for an expression that is not made of variables, integers, + - * // and %.
    """
    if isinstance(value, (list, tuple)):
        return [_with_handles(v) for v in value]
    if not isinstance(value, Expr):
        return value
    if isinstance(value, Var):
        if value.key not in _RESULTS:
            handle = _RESULTS[value.key] = ExprRV()  # type: ignore[assignment]
            return handle
        return _RESULTS[value.key]
    leaves = {key: leaf for key, leaf in value.leaves.items() if isinstance(leaf, Var)}
    names = {key: f"v{n}" for n, key in enumerate(leaves)}
    try:
        text = ast.unparse(rename_keys(value.node, names))
        return parse_formula(text, {names[key]: _with_handles(leaf) for key, leaf in leaves.items()})
    except (KeyError, ValueError) as error:
        raise TraceError(f"{short_repr(value)} in a trace: {error}") from None


class Instruction(metaclass=_NewStep):
    """A step of a trace."""

    stands_for = Step

"""Traces written down by hand, as TVM's tests do: `BlockRV()`, `Instruction(kind, inputs, attrs, outputs)`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tir_mlir.schedule.handles import BlockHandle, ExprHandle, Handle, LoopHandle, new_serial
from tir_mlir.schedule.trace.instruction import Instruction as Step
from tir_mlir.schedule.trace.instruction import InstructionKind
from tir_mlir.schedule.trace.json_text import step_of


class _Made(type):
    """A name for a class of the project that is called in TVM's way."""

    stands_for: type

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, cls.stands_for)


class _NewHandle(_Made):
    def __call__(cls) -> Handle:
        serial = new_serial()
        return cls.stands_for(serial, -1, serial)


class BlockRV(metaclass=_NewHandle):
    """A block that a step of a trace will give."""

    stands_for = BlockHandle


class LoopRV(metaclass=_NewHandle):
    """A loop that a step of a trace will give."""

    stands_for = LoopHandle


class ExprRV(metaclass=_NewHandle):
    """An integer that a step of a trace will give."""

    stands_for = ExprHandle


class _NewStep(_Made):
    def __call__(
        cls, kind: InstructionKind, inputs: Sequence[Any], attrs: Sequence[Any], outputs: Sequence[Any]
    ) -> Step:
        return step_of(kind, inputs, attrs, outputs)


class Instruction(metaclass=_NewStep):
    """A step of a trace."""

    stands_for = Step

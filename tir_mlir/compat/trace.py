"""Construction of traces by hand, as in TVM's tests: `BlockRV()`, `Instruction(kind, inputs, attrs, outputs)`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tir_mlir.schedule.handles import BlockHandle, ExprHandle, Handle, LoopHandle, new_serial
from tir_mlir.schedule.trace.instruction import Instruction as Step
from tir_mlir.schedule.trace.instruction import InstructionKind
from tir_mlir.schedule.trace.json_text import step_of


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
        cls, kind: InstructionKind, inputs: Sequence[Any], attrs: Sequence[Any], outputs: Sequence[Any]
    ) -> Step:
        return step_of(kind, inputs, attrs, outputs)


class Instruction(metaclass=_NewStep):
    """A step of a trace."""

    stands_for = Step

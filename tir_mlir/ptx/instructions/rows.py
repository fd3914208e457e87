"""A row of the table of instructions: how one is compiled, and which modifiers the machine knows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn, TypeAlias

from tir_mlir.errors import PtxError
from tir_mlir.ptx.types import DTYPES

if TYPE_CHECKING:
    from tir_mlir.ptx.machine import Machine
    from tir_mlir.ptx.parser import PtxInstruction
    from tir_mlir.ptx.registers import Run


Compiler: TypeAlias = "Callable[[Machine, PtxInstruction], Run]"


@dataclass(frozen=True)
class InstructionRow:
    """`compile(machine, instruction)` returns a function of the active lanes (of lanes and position if `control`).
    `types` and `modifiers`: what may follow the name."""

    compile: Compiler
    modifiers: frozenset[str] = frozenset()
    types: frozenset[str] = frozenset(DTYPES)
    control: bool = False

    def check(self, ins: PtxInstruction) -> None:
        """Refuse a modifier or type that the row does not list."""
        for part in ins.parts[1:]:
            if part not in self.modifiers and part not in self.types:
                raise PtxError(
                    f"the machine does not know `.{part}` of the instruction `{ins.text}`",
                    "instruction",
                    ins.line,
                    ins.source,
                )


def words(text: str) -> frozenset[str]:
    """Modifiers, separated by blanks."""
    return frozenset(text.split())


def types_of(ins: PtxInstruction) -> list[str]:
    """The types among the parts of an instruction."""
    return [p for p in ins.parts[1:] if p in DTYPES]


def refuse(ins: PtxInstruction, what: str) -> NoReturn:
    """Refuse a combination that the machine does not know."""
    raise PtxError(
        f"the machine does not know {what} of the instruction `{ins.text}`", "instruction", ins.line, ins.source
    )

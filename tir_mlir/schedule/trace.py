"""The trace of a schedule: its steps, printed as Python that replays them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from .handles import BlockHandle, Handle, LoopHandle


@dataclass(frozen=True)
class Instruction:
    """One step: the primitive, its arguments by name (`*args` under their own name), and the handles it gave."""

    name: str
    arguments: dict[str, Any]
    variadic: str | None
    outputs: tuple[Handle, ...]
    returns_list: bool = False


@dataclass
class Trace:
    """The steps of a schedule, in order."""

    instructions: list[Instruction] = field(default_factory=list)

    def append(self, instruction: Instruction) -> None:
        self.instructions.append(instruction)

    def __len__(self) -> int:
        return len(self.instructions)

    def __iter__(self) -> Iterator[Instruction]:
        return iter(self.instructions)

    def copy(self) -> Trace:
        return Trace(list(self.instructions))

    def as_python(self) -> str:
        """`def apply_trace(sch): ...`: run it on a fresh schedule of the same module for the same result."""
        names: dict[Handle, str] = {}
        lines = ["# from tir_mlir import Schedule", "def apply_trace(sch: Schedule) -> None:"]
        lines += [f"  {_call(step, names)}" for step in self.instructions]
        return "\n".join(lines if self.instructions else [*lines, "  pass"])

    def replay(self, sch: Any) -> None:
        """Run the steps on another schedule."""
        known: dict[Handle, Handle] = {}
        for step in self.instructions:
            arguments = {k: _translate(v, known) for k, v in step.arguments.items()}
            positional = arguments.pop(step.variadic) if step.variadic else ()
            result = getattr(sch, step.name)(*positional, **arguments)
            outputs = result if isinstance(result, (list, tuple)) else [result]
            known |= dict(zip(step.outputs, [o for o in outputs if o is not None], strict=False))

    def __str__(self) -> str:
        return self.as_python()

    __repr__ = __str__


def _translate(value: Any, known: dict[Handle, Handle]) -> Any:
    if isinstance(value, Handle):
        return known[value]
    if isinstance(value, (list, tuple)):
        return type(value)(_translate(v, known) for v in value)
    return value


def _call(step: Instruction, names: dict[Handle, str]) -> str:
    parts = []
    for key, value in step.arguments.items():
        if key == step.variadic:
            parts += [_show(v, names) for v in value]
        else:
            parts.append(f"{key}={_show(value, names)}")
    call = f"sch.{step.name}({', '.join(parts)})"
    if not step.outputs:
        return call
    for handle in step.outputs:
        if handle not in names:
            names[handle] = f"{_letter(handle)}{len(names)}"
    targets = ", ".join(names[h] for h in step.outputs)
    return f"{targets}{',' if step.returns_list and len(step.outputs) == 1 else ''} = {call}"


def _letter(handle: Handle) -> str:
    return {BlockHandle: "b", LoopHandle: "l"}[type(handle)]


def _show(value: Any, names: dict[Handle, str]) -> str:
    if isinstance(value, Handle):
        return names[value]
    if isinstance(value, (list, tuple)):
        inner = ", ".join(_show(v, names) for v in value)
        return f"[{inner}]" if isinstance(value, list) else f"({inner}{',' if len(value) == 1 else ''})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k!r}: {_show(v, names)}" for k, v in value.items()) + "}"
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    return repr(value)

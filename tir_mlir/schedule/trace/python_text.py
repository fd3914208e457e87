"""Print traces as Python."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tir_mlir.dialect.index_maps import IndexMap
from tir_mlir.dialect.symbolic import Formula
from tir_mlir.schedule.handles import Handle, is_dict, is_list

if TYPE_CHECKING:
    from tir_mlir.schedule.trace.instruction import Instruction

DECISION = "decision"  # the parameter of sampling primitives for the decision
NAME = "name"  # their parameter for the name of the decision, which TVM does not have: written only if given
LONGEST = 1000
"""The length from which on a text is cut where a trace is read by people."""

HEAD = ["from tir_mlir import Schedule", "def apply_trace(sch: Schedule) -> None:"]


class TraceHandleNames:
    """Names of handles in a printed trace: `b0`, `l1`, `v2`, numbered over the results of all steps."""

    def __init__(self) -> None:
        self._count = 0
        self._by_serial: dict[int, str] = {}
        self._latest: dict[tuple[int, int], str] = {}

    def give(self, handles: Sequence[Handle | None]) -> list[str]:
        """Assign names to the results of a step; `_` for a factor to be inferred."""
        names: list[str] = []
        for handle in handles:
            if handle is None:
                names.append("_")
                continue
            name = f"{handle.letter}{self._count}"
            self._count += 1
            self._by_serial[handle.serial] = self._latest[handle.key] = name
            names.append(name)
        return names

    def has(self, handle: Handle) -> bool:
        """Whether a step returned a handle."""
        return handle.serial in self._by_serial or handle.key in self._latest

    def name_of(self, handle: Handle) -> str:
        """The name of a handle; `_` if no step returned it."""
        return self._by_serial.get(handle.serial) or self._latest.get(handle.key, "_")


def unknown(handle: Handle) -> str:
    """What to tell of a handle that no step returned."""
    return f"uses {'an' if handle.word == 'integer' else 'a'} {handle.word} that no earlier step returned"


def python_lines(instructions: Sequence[Instruction], decisions: dict[Instruction, object]) -> list[str]:
    """The statements of a trace, one per step."""
    names = TraceHandleNames()
    return [_statement(step, decisions.get(step), names) for step in instructions]


def python_text(lines: Sequence[str]) -> str:
    """The function `apply_trace` with these statements."""
    return "\n".join([*HEAD, *(f"  {line}" for line in lines or ["pass"])])


@dataclass(frozen=True)
class _Cut:
    """A long text where a trace is read by people: no Python, so that nobody runs the trace without it."""

    text: str

    def __repr__(self) -> str:
        return f"<{len(self.text)} characters, {_quote(self.text[:40])}...; trace.as_python() has all>"


def shorten_arguments(step: Instruction) -> Instruction:
    """A step without long texts, such as imported LLVM IR; the step itself if it has none."""
    texts = {key: v for key, v in step.arguments.items() if isinstance(v, str) and len(v) >= LONGEST}
    if not texts:
        return step
    return replace(step, arguments={**step.arguments, **{key: _Cut(text) for key, text in texts.items()}})


def print_step(step: Instruction) -> str:
    """Print a single step, outside a trace: its handles have no names."""
    unnamed = TraceHandleNames()
    call = _statement(replace(step, outputs=()), None, unnamed)
    return f"{', '.join('_' for _ in step.outputs)} = {call}" if step.outputs else call


def _statement(step: Instruction, decision: object, names: TraceHandleNames) -> str:
    many = step.variadic
    parts: list[str] = []
    for key, value in step.arguments.items():
        if key == many:
            parts += [value_text(v, names) for v in value]
        elif key != NAME or value is not None:
            parts.append(f"{key}={value_text(value, names)}")
    if decision is not None:
        parts.append(f"{DECISION}={value_text(decision, names)}")
    call = f"sch.{step.name}({', '.join(parts)})"
    if not step.outputs:
        return call
    targets = ", ".join(names.give(step.outputs))
    return f"{targets}{',' if step.returns_list and len(step.outputs) == 1 else ''} = {call}"


def value_text(value: object, names: TraceHandleNames) -> str:
    """A value as Python source."""
    if isinstance(value, Handle):
        return names.name_of(value)
    if isinstance(value, (Formula, IndexMap)):
        return value.text(names.name_of)
    if is_list(value):
        inner = ", ".join(value_text(v, names) for v in value)
        return f"[{inner}]" if isinstance(value, list) else f"({inner}{',' if len(value) == 1 else ''})"
    if is_dict(value):
        return "{" + ", ".join(f"{value_text(k, names)}: {value_text(v, names)}" for k, v in value.items()) + "}"
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    if isinstance(value, str):
        return _quote(value)
    return repr(value)


def _quote(text: str) -> str:
    if not text.isprintable():
        return repr(str(text))
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'

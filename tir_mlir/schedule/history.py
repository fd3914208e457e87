"""What a schedule did: every step with its call, the user's line, its time and the program after it."""

from __future__ import annotations

import difflib
import html as _html
import linecache
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from mlir import ir

from tir_mlir.schedule.trace.instruction import Instruction
from tir_mlir.script.display import truncate_lines
from tir_mlir.script.module import IRModule
from tir_mlir.script.printer import script

_CSS = {"+": "color:#22863a", "-": "color:#d73a49", "@": "color:#6a737d"}
_ANSI = {"+": "32", "-": "31", "@": "2"}


class Diff(str):
    """A unified diff of two programs; a notebook shows it in colour."""

    @staticmethod
    def between(before: ir.Module, after: ir.Module, names: tuple[str, str] = ("before", "after")) -> Diff:
        old, new = (truncate_lines(script(m)).splitlines() for m in (before, after))
        return Diff("\n".join(difflib.unified_diff(old, new, *names, lineterm="")))

    def terminal(self) -> str:
        """With escape codes for a terminal."""
        return "\n".join(f"\x1b[{_ANSI[x[0]]}m{x}\x1b[0m" if x[:1] in _ANSI else x for x in self.splitlines())

    def _repr_html_(self) -> str:
        lines = [(_CSS.get(x[:1], ""), _html.escape(x, quote=False)) for x in self.splitlines()]
        shown = [f'<span style="{css}">{text}</span>' if css else text for css, text in lines]
        return f'<pre style="line-height:1.3">{chr(10).join(shown)}</pre>'


@dataclass(frozen=True, eq=False)
class Entry:
    """A step: `number` as in the trace, from 1; `call` with the names that loops and blocks had; `ms` it took;
    `decision` of a sampling step. `first`: the first entry of the same call of the user (looking up a name is a step).
    """

    number: int
    call: str
    place: tuple[str, int] | None
    ms: float
    instruction: Instruction
    decision: Any
    before: ir.Module
    after: ir.Module
    random: int
    first: int
    lost: tuple[int, ...] = ()

    @property
    def mod(self) -> IRModule:
        """The program after the step."""
        return IRModule(self.after)

    @property
    def changed(self) -> bool:
        """Whether it was no look or sample."""
        return not self.instruction.kind.is_pure

    @property
    def source(self) -> str:
        """The user's `file:line`."""
        return f"{self.place[0]}:{self.place[1]}" if self.place else ""

    @property
    def line(self) -> str:
        """The text of the user's line, where it can be read."""
        return linecache.getline(*self.place).strip() if self.place else ""

    def diff(self) -> Diff:
        """What the step changed in the printed program."""
        return Diff.between(self.before, self.after, (f"before step {self.number}", f"after step {self.number}"))

    def __str__(self) -> str:
        made = f" = {self.decision!r}" if self.decision is not None else ""
        return f"{self.number:3}  {self.ms:7.1f} ms  {self.call}{made}  {self.source}".rstrip()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f"<pre>{_html.escape(str(self))}</pre>{self.diff()._repr_html_()}"


class History(tuple[Entry, ...]):
    """All steps in order; printed, a line each, and in a notebook a table whose rows open to what they changed."""

    def __new__(cls, entries: Iterable[Entry] = ()) -> History:
        return super().__new__(cls, entries)

    def __str__(self) -> str:
        return "\n".join(str(e) for e in self) or "no steps yet"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = [_row(e) for e in self]
        head = "<tr><th>step</th><th>ms</th><th>call</th><th>line</th></tr>"
        return f"<table>{head}{''.join(rows)}</table>"


def _row(entry: Entry) -> str:
    call = f"<code>{_html.escape(entry.call)}</code>"
    if entry.changed:
        call = f"<details><summary>{call}</summary>{entry.diff()._repr_html_()}</details>"
    line = _html.escape(entry.line or entry.source)
    cells = (str(entry.number), f"{entry.ms:.1f}", call, f'<code title="{_html.escape(entry.source)}">{line}</code>')
    return "<tr>" + "".join(f'<td style="text-align:left">{c}</td>' for c in cells) + "</tr>"

"""The history of a schedule: each step with its call, source location, run time and resulting program; its
HTML page."""

from __future__ import annotations

import difflib
import html as _html
import linecache
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlir import ir

from tir_mlir.dialect.diagnostics import PRE, ScheduleError
from tir_mlir.dialect.incremental import Version
from tir_mlir.passes.schedule import PRIMITIVES
from tir_mlir.schedule.handles import handles_in
from tir_mlir.schedule.trace.instruction import Instruction
from tir_mlir.script.display import truncate_lines
from tir_mlir.script.module import IRModule
from tir_mlir.script.printer import script
from tir_mlir.visual.page_step import PageStep

if TYPE_CHECKING:
    from tir_mlir.target import AnyTarget


_REQUIRES = "Requires:"
_CSS = {"+": "color:#22863a", "-": "color:#d73a49", "@": "color:#6a737d"}
_ANSI = {"+": "32", "-": "31", "@": "2"}


class Diff(str):
    """A unified diff of two programs. Notebooks render it in color."""

    @staticmethod
    def from_modules(base: ir.Module, changed: ir.Module, names: tuple[str, str] = ("before", "after")) -> Diff:
        old, new = (truncate_lines(script(m)).splitlines() for m in (base, changed))
        return Diff("\n".join(difflib.unified_diff(old, new, *names, lineterm="")))

    def terminal(self) -> str:
        """The diff with ANSI color codes."""
        return "\n".join(f"\x1b[{_ANSI[x[0]]}m{x}\x1b[0m" if x[:1] in _ANSI else x for x in self.splitlines())

    def html(self) -> str:
        """The diff in color, for notebooks."""
        lines = [(_CSS.get(x[:1], ""), _html.escape(x, quote=False)) for x in self.splitlines()]
        styled = [f'<span style="{css}">{text}</span>' if css else text for css, text in lines]
        return f"{PRE}{chr(10).join(styled)}</pre>"

    _repr_html_ = html


@dataclass(frozen=True, eq=False)
class HistoryEntry:
    """A step of a schedule.

    number: its position in the trace, from 1.
    call: with the names of loops and blocks before the step.
    ms: its run time.
    decision: that of a sampling step.
    versions: of the program, before and after it.
    first: index of the first entry of the same user call, as looking up a block by name is a step of its own.
    lost: ids of the loops and blocks that the step removed.
    facts: what was proved of this program, as sentences.
    reasons: why a ready-made schedule chose its sizes, in words, at the first step that uses them.
    """

    number: int
    call: str
    location: tuple[str, int] | None
    ms: float
    instruction: Instruction
    decision: object
    versions: tuple[Version, Version] = field(repr=False)
    random: int
    first: int
    lost: tuple[int, ...] = ()
    facts: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()

    @property
    def before(self) -> ir.Module:
        return self.versions[0].share_module()

    @property
    def after(self) -> ir.Module:
        return self.versions[1].share_module()

    @property
    def mod(self) -> IRModule:
        """The program after the step."""
        return IRModule(self.after)

    @property
    def changed(self) -> bool:
        """Whether the step is neither a lookup nor a sampling step."""
        return not self.instruction.kind.is_pure

    @property
    def source(self) -> str:
        """The user's `file:line`."""
        return f"{self.location[0]}:{self.location[1]}" if self.location else ""

    @property
    def line(self) -> str:
        """The text of the user's line, if the source is available."""
        return linecache.getline(*self.location).strip() if self.location else ""

    def diff(self) -> Diff:
        """The diff of the printed program before and after the step."""
        return Diff.from_modules(self.before, self.after, (f"before step {self.number}", f"after step {self.number}"))

    def __str__(self) -> str:
        decision_text = f" = {self.decision!r}" if self.decision is not None else ""
        return f"{self.number:3}  {self.ms:7.1f} ms  {self.call}{decision_text}  {self.source}".rstrip()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f"<pre>{_html.escape(str(self))}</pre>{self.diff().html()}"


MOST_REFUSALS = 100  # a schedule keeps the most recent ones


@dataclass(frozen=True)
class RefusedStep:
    """A refused step; the schedule had `after` history entries at that point.

    `call`, `reason`, `fix` and `provable` are those of the error; `example` is its counterexample as text; `culprit` is
    the id of the loop or block at fault, if there is one.
    """

    call: str
    after: int
    location: tuple[str, int] | None
    reason: str
    provable: bool
    example: str
    fix: str
    culprit: int | None
    version: Version = field(repr=False, compare=False)

    @staticmethod
    def from_error(
        error: ScheduleError, step_count: int, source_line: tuple[str, int] | None, version: Version
    ) -> RefusedStep:
        example = str(error.counterexample) if error.counterexample is not None else ""
        culprit = error.culprit if isinstance(error.culprit, int) else None
        return RefusedStep(
            error.call, step_count, source_line, error.reason, error.provable, example, error.fix, culprit, version
        )

    @property
    def source(self) -> str:
        """The user's `file:line`."""
        return f"{self.location[0]}:{self.location[1]}" if self.location else ""

    @property
    def line(self) -> str:
        """The text of the user's line, if the source is available."""
        return linecache.getline(*self.location).strip() if self.location else ""


class History(tuple[HistoryEntry, ...]):
    """All steps in order. Prints one line per step; in notebooks, a table whose rows expand to the diff of the step.

    `refused`: the refused steps. `start`: the program before the first step.
    """

    refused: tuple[RefusedStep, ...]
    _start: Version | None

    def __new__(
        cls, entries: Iterable[HistoryEntry] = (), refused: Iterable[RefusedStep] = (), start: Version | None = None
    ) -> History:
        history = super().__new__(cls, entries)
        history.refused, history._start = tuple(refused), start
        return history

    @property
    def start(self) -> ir.Module | None:
        return None if self._start is None else self._start.share_module()

    def __reduce__(self) -> tuple[object, ...]:
        return History, (tuple(self), self.refused, self._start)

    def html(
        self,
        path: str | os.PathLike[str] = "steps.html",
        *,
        title: str | None = None,
        sizes: Mapping[str, int] | None = None,
        measure: bool | str | AnyTarget = False,
    ) -> Path:
        """Write a self-contained HTML page for stepping through the schedule. Returns its path.

            sch.history.html("steps.html")
            sch.history.html("steps.html", measure=True)

        For each step that changed the program, sampled a value or was refused, the page shows the call with its file
        and line, what was proved, the diff of the program, the loop nest, the tiles that its blocks access, which a
        slider moves, and the exact number of loads and stores of each buffer. Steps have their numbers of the history.
        `sizes`: values of shape variables; without them, counts are formulas, and tiles are drawn at sizes that the
        page names. `measure`: build and run the program after each step, on random arguments, and show the time of a
        run and GFLOP/s: True for this machine, or a target that this machine runs, as of `build`. The page says why a
        step cannot run.

        Errors: ValueError for a name that is not a shape variable, and for a history without a program.
        """
        from tir_mlir.visual.history_page import write

        steps = page_steps(self)
        return write(_measure_steps(steps, measure, sizes) if measure else steps, path, title, sizes)

    def __str__(self) -> str:
        return "\n".join(str(e) for e in self) or "no steps yet"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = [_row(e) for e in self]
        head = "<tr><th>step</th><th>ms</th><th>call</th><th>line</th></tr>"
        return f"<table>{head}{''.join(rows)}</table>"


def _row(entry: HistoryEntry) -> str:
    call = f"<code>{_html.escape(entry.call)}</code>"
    if entry.changed:
        call = f"<details><summary>{call}</summary>{entry.diff().html()}</details>"
    line = _html.escape(entry.line or entry.source)
    cells = (str(entry.number), f"{entry.ms:.1f}", call, f'<code title="{_html.escape(entry.source)}">{line}</code>')
    return "<tr>" + "".join(f'<td style="text-align:left">{c}</td>' for c in cells) + "</tr>"


# --- the steps of the page --------------------------------------------------------------------------------------------


def _measure_steps(
    steps: list[PageStep], target: bool | str | AnyTarget, given: Mapping[str, int] | None
) -> list[PageStep]:
    from tir_mlir.schedule.measure import measure_modules  # loads the compiler

    times = measure_modules([step.after for step in steps if step.after is not None], target, given or {})
    return [replace(step, measured=time) for step, time in zip(steps, times, strict=True)]


def page_steps(history: History) -> list[PageStep]:
    """The initial program, each step that changed it or sampled a value, and each refusal."""
    first = history[0].before if history else history.start
    if first is None:
        raise ValueError("this history has no program; use sch.history")
    steps = [PageStep("start", "the program as written", before=first, after=first)]
    for position in range(len(history) + 1):
        steps += [_refused_page_step(r) for r in history.refused if r.after == position]
        if position < len(history) and (history[position].changed or history[position].decision is not None):
            steps.append(_accepted_page_step(history[position]))
    return steps


def _accepted_page_step(entry: HistoryEntry) -> PageStep:
    name = entry.instruction.name
    call = f"{entry.call} = {entry.decision!r}" if entry.decision is not None else entry.call
    handles = (*handles_in(entry.instruction.outputs), *handles_in(list(entry.instruction.arguments.values())))
    focus = tuple(dict.fromkeys(h.id for h in handles))
    facts: dict[str, Any] = {
        "before": entry.before,
        "after": entry.after,
        "source": entry.source,
        "line": entry.line,
        "focus": focus,
    }
    summary, rewrite, requires = describe_primitive(name)
    if not entry.changed:
        proof = "The program is unchanged."
        return PageStep("choice", call, entry.number, entry.ms, summary, proof=proof, **facts)
    proves = PRIMITIVES[name].proves
    return PageStep("step", call, entry.number, entry.ms, summary, rewrite, entry.facts, requires, proves, **facts)


def _refused_page_step(refusal: RefusedStep) -> PageStep:
    verdict = "refused" if refusal.provable else "not provable"
    name = refusal.call.partition("(")[0]
    summary, rewrite, _ = describe_primitive(name) if name in PRIMITIVES else ("", "", "")
    facts: dict[str, Any] = {
        "before": refusal.version.share_module(),
        "after": refusal.version.share_module(),
        "source": refusal.source,
        "line": refusal.line,
    }
    texts = {"proof": refusal.reason, "example": refusal.example, "fix": refusal.fix}
    if refusal.culprit is not None:
        facts["focus"] = (refusal.culprit,)
    return PageStep(verdict, refusal.call, refusal.after, summary=summary, rewrite=rewrite, **texts, **facts)


def describe_primitive(name: str) -> tuple[str, str, str]:
    """The summary, the before -> after rewrite and the preconditions of a primitive, from its docstring."""
    parts = PRIMITIVES[name].doc.split("\n\n")
    summary = " ".join(parts[0].split())
    rewrite = next((p for p in parts[1:] if p.startswith(" ")), "")
    requires = next((p for p in parts if _REQUIRES in p), "")
    return (
        summary,
        "\n".join(line.removeprefix(" ") for line in rewrite.splitlines()),
        " ".join(requires.partition(_REQUIRES)[2].partition("Errors:")[0].split()),
    )

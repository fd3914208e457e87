"""Pages of the reference manual: a primitive in its own words, and what it does to a small program, run as written.

An example is a function of a `Schedule`, named like its primitive; its body is shown, and runs.
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tir_mlir import Schedule
from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.passes.schedule import PRIMITIVES

Example = Callable[[Schedule], Any]


@dataclass
class Page:
    """What the manual shows of one primitive."""

    examples: list[tuple[Any, Example]] = field(default_factory=list)
    refusals: list[tuple[Any, Example]] = field(default_factory=list)


PAGES: dict[str, Page] = {}


def example(program: Any) -> Callable[[Example], Example]:
    """An example on a program; several of one primitive follow each other on its page."""

    def add(run: Example) -> Example:
        PAGES.setdefault(run.__name__, Page()).examples.append((program, run))
        return run

    return add


def refused(program: Any) -> Callable[[Example], Example]:
    """An example that is refused: the page shows the message."""

    def add(run: Example) -> Example:
        PAGES.setdefault(run.__name__, Page()).refusals.append((program, run))
        return run

    return add


def page(name: str) -> str:
    """The text of one page. Errors: KeyError for a primitive without examples."""
    shown = PAGES[name]
    signature = inspect.signature(getattr(Schedule, name))
    parts = [f"# {name}", _code(f"sch.{name}{_without_self(signature)}", "python"), _prose(PRIMITIVES[name].doc)]
    parts += [_example(program, run) for program, run in shown.examples]
    parts += [_refusal(program, run) for program, run in shown.refusals]
    return "\n\n".join(parts) + "\n"


def index() -> str:
    """The list of all pages."""
    rows = [f"- [{name}]({name}.md): {PRIMITIVES[name].doc.splitlines()[0]}" for name in sorted(PRIMITIVES)]
    return (
        "# Schedule primitives\n\nMade by `make manual` from the docstrings and from runs.\n\n" + "\n".join(rows) + "\n"
    )


def _example(program: Any, run: Example) -> str:
    sch = Schedule(program)
    before = _body(sch)
    result = run(sch)
    after = _body(sch)
    parts = ["## Example", _code(before, "python"), "is changed by" if after != before else "is asked"]
    parts.append(_code(_source(run), "python"))
    if after != before:
        parts += ["into", _code(after, "python")]
    if result is not None:
        parts += ["with the result", _code(_told(sch, result), "text")]
    return "\n\n".join(parts)


def _refusal(program: Any, run: Example) -> str:
    sch = Schedule(program, error_render_level="fast")
    before = _body(sch)
    try:
        run(sch)
    except ScheduleError as error:
        said = str(error)
    else:
        raise ValueError(f"the refused example of {run.__name__} was not refused")
    return "\n\n".join(
        ["## Refused", _code(before, "python"), "with", _code(_source(run), "python"), "says", _code(said, "text")]
    )


def _body(sch: Schedule) -> str:
    """The functions of the module, without the header that all share."""
    lines = sch.mod.script().splitlines()
    start = next(n for n, line in enumerate(lines) if line.startswith("class ")) + 1
    return textwrap.dedent("\n".join(lines[start:]))


def _source(run: Example) -> str:
    lines = inspect.getsource(run).splitlines()
    start = next(n for n, line in enumerate(lines) if line.startswith("def ")) + 1
    body = textwrap.dedent("\n".join(lines[start:]))
    return body.replace("return ", "", 1) if body.splitlines()[-1].startswith("return ") else body


def _told(sch: Schedule, result: Any) -> str:
    """A result in words: what its handles stand for."""
    if isinstance(result, (list, tuple)):
        return "[" + ", ".join(_told(sch, r) for r in result) + "]"
    if result is None or isinstance(result, (bool, int, str)):
        return repr(result)
    found = sch.get(result)
    return repr(found) if isinstance(found, int) else str(found.name)


def _without_self(signature: inspect.Signature) -> str:
    rest = [p.replace(annotation=inspect.Parameter.empty) for p in list(signature.parameters.values())[1:]]
    return str(inspect.Signature(rest))


def _prose(doc: str) -> str:
    return "\n".join(line.rstrip() for line in doc.splitlines())


def _code(text: str, language: str) -> str:
    return f"```{language}\n{text.rstrip()}\n```"

"""Diagnostics: errors of this package and of MLIR as `file:line:column: error: message`.

`--verify-diagnostics` compares them with the expectations in comments:

    // expected-error @below {{does not cover}}
    // expected-warning@+2 {{...}}    expected-note-re @above {{loop {{.*}} starts}}    expected-error @unknown {{...}}
"""

from __future__ import annotations

import linecache
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from mlir import ir

from tir_mlir.dialect.diagnostics import ScriptError, TirError, VerifyError
from tir_mlir.script.parser.verify_parsed import file_position

SEVERITIES = {
    ir.DiagnosticSeverity.ERROR: "error",
    ir.DiagnosticSeverity.WARNING: "warning",
    ir.DiagnosticSeverity.NOTE: "note",
    ir.DiagnosticSeverity.REMARK: "remark",
}
MLIR_ERROR: type[Exception] = getattr(ir, "MLIRError")  # noqa: B009  not in the stubs
SourcePosition = tuple[str, int, int]
_LOCATION_PREFIX = re.compile(r"(?P<file>[^\s:]+):(?P<line>\d+)(?::(?P<column>\d+))?: (?P<message>.*)", re.DOTALL)
_LOCATION_IN_TEXT = re.compile(r' \((loc\("[^"]*":\d+:\d+\))\)')
_TOOL_DIAGNOSTIC = re.compile(
    r"(?P<file>[^:\n]+):(?P<line>\d+)(:(?P<column>\d+))?: (?P<severity>error|warning|remark|note): (?P<message>.*)"
)


@dataclass(frozen=True)
class Diagnostic:
    """A diagnostic. `line` 0: unknown location. `file` "-": the current input."""

    severity: str
    message: str
    file: str = "-"
    line: int = 0
    column: int = 0
    notes: tuple[Diagnostic, ...] = ()


class DriverError(Exception):
    """Processing of an input ended with these diagnostics."""

    def __init__(self, *diagnostics: Diagnostic):
        super().__init__("; ".join(d.message for d in diagnostics))
        self.diagnostics = diagnostics


class UsageError(DriverError):
    """Of the command line."""


@dataclass
class SourceLines:
    """The name and the lines of the current input, for quoting."""

    name: str
    text: str
    others: dict[str, str] = field(default_factory=dict)

    def line(self, diagnostic: Diagnostic) -> str | None:
        text = self.text if diagnostic.file in ("-", self.name) else self.others.get(diagnostic.file)
        lines = text.splitlines() if text is not None else []
        return lines[diagnostic.line - 1] if 0 < diagnostic.line <= len(lines) else None


def diagnostic_at(location: Any, message: str, severity: str = "error") -> Diagnostic:
    """A diagnostic at an MLIR location."""
    file, line, column = file_position(location)
    return Diagnostic(severity, message, file or "-", line, column)


def convert_mlir_diagnostic(diagnostic: Any) -> Diagnostic:
    """Convert an MLIR diagnostic with its notes."""
    notes = tuple(convert_mlir_diagnostic(n) for n in diagnostic.notes)
    return replace(
        diagnostic_at(diagnostic.location, diagnostic.message, SEVERITIES.get(diagnostic.severity, "error")),
        notes=notes,
    )


def parse_tool_output(text: str) -> list[Diagnostic]:
    """Parse the diagnostics that an LLVM tool wrote to stderr."""
    diagnostics: list[Diagnostic] = []
    for match in _TOOL_DIAGNOSTIC.finditer(text):
        file = "-" if match["file"] in ("-", "<stdin>", "<unknown>") else match["file"]
        diagnostic = Diagnostic(
            match["severity"], match["message"], file, int(match["line"]), int(match["column"] or 0)
        )
        if diagnostic.severity == "note" and diagnostics:
            diagnostics[-1] = replace(diagnostics[-1], notes=(*diagnostics[-1].notes, diagnostic))
        else:
            diagnostics.append(diagnostic)
    return diagnostics


def convert_error(error: BaseException, where: SourcePosition | None = None) -> list[Diagnostic]:
    """Convert an exception to diagnostics; `where` is used if it has no location."""
    if isinstance(error, DriverError):
        return list(error.diagnostics)
    if mlir_diagnostics := getattr(error, "error_diagnostics", None):  # an MLIRError
        return [convert_mlir_diagnostic(d) for d in mlir_diagnostics]
    if isinstance(error, VerifyError):
        diagnostic = diagnostic_at(error.location, error.message)
    elif isinstance(error, ScriptError):
        diagnostic = Diagnostic("error", error.message, error.filename or "-", error.lineno or 0, _column(error))
    elif isinstance(error, (TirError, ValueError, IndexError, MLIR_ERROR)):
        diagnostic = diagnostic_of_message(_text(error))
    else:
        diagnostic = Diagnostic("error", f"internal error, please report it: {type(error).__name__}: {error}")
    if diagnostic.line or where is None:
        return [diagnostic]
    return [replace(diagnostic, file=where[0], line=where[1], column=where[2])]


def diagnostic_of_message(message: str, severity: str = "error") -> Diagnostic:
    """A diagnostic from a message that starts with `file:line: ` or contains an MLIR location in parentheses."""
    match = _LOCATION_PREFIX.fullmatch(message)
    if match is None and (location := _LOCATION_IN_TEXT.search(message)):
        return diagnostic_at(location[1], message.replace(location[0], ""), severity)
    if match is None:
        return Diagnostic(severity, message)
    return Diagnostic(severity, match["message"], match["file"], int(match["line"]), int(match["column"] or 1))


def _text(error: BaseException) -> str:
    return str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)


def _column(error: ScriptError) -> int:
    """The column of the marker in a script error, which quotes its line without indentation."""
    quoted, mark = str(error).splitlines()[-2:] if "^" in str(error) else ("", "")
    if not error.filename or not mark.strip() or mark.strip("^ "):
        return 1
    line = linecache.getline(error.filename, error.lineno or 0)
    return mark.index("^") + 1 - len(quoted) + len(quoted.lstrip()) + len(line) - len(line.lstrip())


@contextmanager
def collect_diagnostics(context: ir.Context) -> Iterator[list[Diagnostic]]:
    """Collect the warnings and remarks that MLIR emits in this context."""
    diagnostics: list[Diagnostic] = []

    def take(diagnostic: Any) -> bool:
        diagnostics.append(convert_mlir_diagnostic(diagnostic))
        return True

    handler: Any = context.attach_diagnostic_handler(take)
    try:
        yield diagnostics
    finally:
        handler.detach()


def show(diagnostic: Diagnostic, reader: SourceLines) -> None:
    """Print a diagnostic to stderr, with the source line; in color on a terminal."""
    for entry in (diagnostic, *diagnostic.notes):
        file = reader.name if entry.file == "-" else entry.file
        head = f"{file}:{max(entry.line, 1)}:{max(entry.column, 1)}: "
        excerpt = _excerpt(entry, reader)
        if sys.stderr.isatty():
            _print_colored(head, entry, excerpt)
        else:
            print(f"{head}{entry.severity}: {entry.message}{excerpt}", file=sys.stderr)


def _excerpt(diagnostic: Diagnostic, reader: SourceLines) -> str:
    line = reader.line(diagnostic)
    if line is None or not line.strip():
        return ""
    column = max(diagnostic.column, 1)
    margin = "".join("\t" if c == "\t" else " " for c in line[: column - 1])
    return f"\n{line}\n{margin}^"


def _print_colored(head: str, diagnostic: Diagnostic, excerpt: str) -> None:
    from rich.console import Console
    from rich.text import Text

    color = {"error": "bold red", "warning": "bold yellow"}.get(diagnostic.severity, "bold cyan")
    text = Text.assemble((head, "bold"), (f"{diagnostic.severity}: ", color), diagnostic.message, (excerpt, "green"))
    Console(stderr=True, highlight=False, soft_wrap=True).print(text)


# --- expectations in comments, for --verify-diagnostics ---------------------------------------------------------------


_EXPECTED = re.compile(
    r"expected-(?P<severity>error|warning|remark|note)(?P<regex>-re)?\s*"
    r"(?:@(?P<line>[+-]\d+|above|below|unknown))?\s*\{\{(?P<text>.*?)\}\}\s*(?=$|//|#|expected-)"
)


@dataclass(frozen=True)
class Expectation:
    """An expected diagnostic at a line (0: unknown location); `line_of_comment` locates the expectation."""

    severity: str
    text: str
    is_regex: bool
    line: int
    line_of_comment: int

    def fits(self, diagnostic: Diagnostic, file_names: tuple[str, ...]) -> bool:
        line = diagnostic.line if diagnostic.file in file_names else 0
        if diagnostic.severity != self.severity or line != self.line:
            return False
        if self.is_regex:
            return re.search(_regex(self.text), diagnostic.message) is not None
        return self.text in diagnostic.message


def _regex(text: str) -> str:
    """Text with regular expressions in `{{...}}`."""
    parts = re.split(r"\{\{(.*?)\}\}", text)
    return "".join(f"({part})" if number % 2 else re.escape(part) for number, part in enumerate(parts))


def parse_expectations(text: str) -> list[Expectation]:
    """Parse the expectations in the comments of a text."""
    lines = text.splitlines()
    expectations = []
    for number, line in enumerate(lines, 1):
        for match in _EXPECTED.finditer(line):
            target = _target(match["line"], number, lines)
            expectations.append(Expectation(match["severity"], match["text"], bool(match["regex"]), target, number))
    return expectations


def _target(designator: str | None, number: int, lines: Sequence[str]) -> int:
    """The line of a designator; above and below skip lines of other expectations."""
    if designator is None:
        return number
    if designator == "unknown":
        return 0
    if designator[0] in "+-":
        return number + int(designator)
    step = -1 if designator == "above" else 1
    target = number + step
    while 0 < target <= len(lines) and _EXPECTED.search(lines[target - 1]):
        target += step
    return target


def differences(text: str, name: str, emitted: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Errors for expectations without a diagnostic, and for unexpected diagnostics."""
    open_ = parse_expectations(text)
    wrong: list[Diagnostic] = []
    file_names = ("-", name)
    for head in emitted:
        for diagnostic in (head, *head.notes):
            match = next((e for e in open_ if e.fits(diagnostic, file_names)), None)
            if match is not None:
                open_.remove(match)
            elif diagnostic.severity != "note":  # as in mlir-opt, a note needs no expectation
                wrong.append(Diagnostic("error", f"unexpected {_headline(diagnostic)}", *_position(diagnostic)))
    for e in open_:
        wrong.append(
            Diagnostic("error", f'expected {e.severity} "{e.text}" was not produced', "-", e.line_of_comment, 1)
        )
    return wrong


def _headline(diagnostic: Diagnostic) -> str:
    return f"{diagnostic.severity}: {diagnostic.message}"


def _position(diagnostic: Diagnostic) -> tuple[str, int, int]:
    return diagnostic.file, diagnostic.line, diagnostic.column

"""`--verify-diagnostics`: compare the diagnostics with the expectations in comments.

// expected-error @below {{does not cover}}
// expected-warning@+2 {{...}}    expected-note-re @above {{loop {{.*}} starts}}    expected-error @unknown {{...}}
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tir_mlir.opt.diagnostics import Diagnostic

_EXPECTED = re.compile(
    r"expected-(?P<severity>error|warning|remark|note)(?P<regex>-re)?\s*"
    r"(?:@(?P<place>[+-]\d+|above|below|unknown))?\s*\{\{(?P<text>.*?)\}\}\s*(?=$|//|#|expected-)"
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


def expected(text: str) -> list[Expectation]:
    """Parse the expectations in the comments of a text."""
    lines = text.splitlines()
    expectations = []
    for number, line in enumerate(lines, 1):
        for match in _EXPECTED.finditer(line):
            target = _target(match["place"], number, lines)
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
    open_ = expected(text)
    wrong: list[Diagnostic] = []
    file_names = ("-", name)
    for head in emitted:
        for diagnostic in (head, *head.notes):
            match = next((e for e in open_ if e.fits(diagnostic, file_names)), None)
            if match is not None:
                open_.remove(match)
            elif diagnostic.severity != "note":  # as in mlir-opt, a note needs no expectation
                wrong.append(Diagnostic("error", f"unexpected {_text(diagnostic)}", *_place(diagnostic)))
    for e in open_:
        wrong.append(
            Diagnostic("error", f'expected {e.severity} "{e.text}" was not produced', "-", e.line_of_comment, 1)
        )
    return wrong


def _text(diagnostic: Diagnostic) -> str:
    return f"{diagnostic.severity}: {diagnostic.message}"


def _place(diagnostic: Diagnostic) -> tuple[str, int, int]:
    return diagnostic.file, diagnostic.line, diagnostic.column

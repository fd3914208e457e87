"""Extract the programs from course documents: Markdown, reStructuredText, HTML, plain text."""

from __future__ import annotations

import html
import re
import textwrap
from dataclasses import dataclass


@dataclass(frozen=True)
class Piece:
    """One block of a document. kind: `code` is run, `printed` is its output, `fragment` is neither."""

    kind: str
    text: str
    line: int


_FENCE = re.compile(r"^```([^\n`]*)\n(.*?)^```\s*$", re.M | re.S)
_DIRECTIVE = re.compile(r"^(\.\. code:: python|\.\. raw:: html|::)\s*$", re.M)
_TAG = re.compile(r"</?\w[^>]*>")


def markdown(text: str) -> list[Piece]:
    """Return the fenced Python blocks of a Markdown document, in order; fences without a language are `fragment`s."""
    found = []
    for match in _FENCE.finditer(text):
        python = "python" in match[1]
        found.append(_piece(match[2], text[: match.start(2)].count("\n") + 1, python))
    return found


def restructured(text: str) -> list[Piece]:
    """Return the Python, HTML and `::` blocks of a reStructuredText document, in order."""
    found = []
    for match in _DIRECTIVE.finditer(text):
        body = _indented(text[match.end() + 1 :])
        if "html" in match[1]:
            body = html.unescape(_TAG.sub("", body))
        elif match[1] == "::":  # a block that the document's own tests skip, with a comment
            body = re.sub(r"^\s*<!--.*-->\s*$", "", body, flags=re.M)
        found.append(_piece(body, text[: match.end()].count("\n") + 2, True))
    return found


def plain(text: str) -> list[Piece]:
    """Return the top-level functions and modules of unmarked text: from `def`, `class` or a decorator to the dedent."""
    found: list[Piece] = []
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        if not re.match(r"(@\w[\w.]*$|def \w+\(|class \w+)", lines[at]):
            at += 1
            continue
        end = at + 1
        while end < len(lines) and (lines[end][:1] in ("", " ", ")") or lines[end - 1].startswith("@")):
            end += 1
        found.append(_piece("\n".join(lines[at:end]), at + 1, True))
        at = end
    return found


def _indented(rest: str) -> str:
    """Return the leading indented lines of a text, including blank ones."""
    match = re.match(r"(?:[ \t]*\n|[ \t]+[^\n]*\n)*", rest)
    return match[0] if match else ""


def _piece(body: str, line: int, python: bool) -> Piece:
    body = textwrap.dedent(body).strip("\n") + "\n"
    if not python or re.search(r"^\s*\.\.\.\s*$", body, re.M):
        return Piece("fragment", body, line)
    printed = re.search(r"^class Module:", body, re.M) and re.match(r"(#.*\n|\s*\n)*@", body)
    return Piece("printed" if printed else "code", body, line)

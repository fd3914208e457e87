"""Fenced code blocks of a Markdown page.

What the info string of a block means to the tests (`examples.py`) and to the notebooks (`notebooks.py`):

    ```python                    run, in order, in one namespace per page
    ```LANGUAGE title="NAME"     a file NAME, written next to the page's working directory; not run by itself
    ```LANGUAGE title="output"   what the blocks since the last output print
    ```sh                        commands, one a line
    ```mlir                      a module that parses
    ```text, ```c, ...           shown only

A comment right before an output block, which readers do not see, says what is different in each run:

    <!-- varies: numbers, "sapphirerapids" -->

`numbers` are all numbers of the block, and the spaces around them; a quoted text is any text on its line; `everything`
is not compared. The block itself shows a real run.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.M | re.S)
_VARIES = re.compile(r"<!-- varies: (.*?) -->\s*\Z")
_TERM = re.compile(r'\s*(?:"(?P<text>[^"]+)"|(?P<word>numbers|everything))\s*(?:,|\Z)')
_INFO = re.compile(r'(?P<language>[\w+-]*)(?: title="(?P<title>[^"]+)")?')
OUTPUT = "output"
NUMBERS, EVERYTHING = object(), object()
WORDS = {"numbers": NUMBERS, "everything": EVERYTHING}


@dataclass(frozen=True)
class Fence:
    """A fenced block: language, title ("" for none), text, the number of its first line of text, and what varies."""

    language: str
    title: str
    text: str
    line: int
    varying: tuple[object, ...] = ()
    """Texts that are different in each run; `NUMBERS`: all numbers; `EVERYTHING`: the block is not compared."""


@dataclass(frozen=True)
class Prose:
    """Markdown between two fenced blocks."""

    text: str


def parts(page: str) -> list[Fence | Prose]:
    """Split a page into prose and fenced blocks, in order. Errors: ValueError for an unknown form of info string."""
    found: list[Fence | Prose] = []
    end = 0
    for match in _FENCE.finditer(page):
        line = page.count("\n", 0, match.start()) + 2
        info = _INFO.fullmatch(match[1])
        if info is None:
            raise ValueError(f'line {line - 1}: the info string {match[1]!r} is not LANGUAGE or LANGUAGE title="..."')
        before = page[end : match.start()]
        found += [Prose(before), Fence(info["language"], info["title"] or "", match[2], line, _varying(before, line))]
        end = match.end()
    return [*found, Prose(page[end:])]


def without_fences(page: str) -> str:
    """Return the prose of a page."""
    return "".join(part.text for part in parts(page) if isinstance(part, Prose))


def without_marks(prose: str) -> str:
    """Return prose without the comment about the block after it."""
    return _VARIES.sub("", prose)


def _varying(before: str, line: int) -> tuple[object, ...]:
    mark = _VARIES.search(before)
    if mark is None:
        return ()
    terms: list[object] = []
    at = 0
    while at < len(mark[1]):
        term = _TERM.match(mark[1], at)
        if term is None:
            raise ValueError(f'line {line - 2}: {mark[1][at:]!r} is neither numbers, everything nor a "text"')
        terms.append(WORDS[term["word"]] if term["word"] else term["text"])
        at = term.end()
    return tuple(terms)


def fences(page: str) -> list[Fence]:
    """Return the fenced blocks of a page, in order."""
    return [part for part in parts(page) if isinstance(part, Fence)]

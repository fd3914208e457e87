"""Fenced code blocks of a Markdown page.

What the info string of a block means to the tests (`examples.py`) and to the notebooks (`notebooks.py`):

    ```python                    run, in order, in one namespace per page
    ```LANGUAGE title="NAME"     a file NAME, written next to the page's working directory; not run by itself
    ```LANGUAGE title="output"   what the blocks since the last output print
    ```sh                        commands, one a line
    ```mlir                      a module that parses
    ```text, ```c, ...           shown only
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.M | re.S)
_INFO = re.compile(r'(?P<language>[\w+-]*)(?: title="(?P<title>[^"]+)")?')
OUTPUT = "output"


@dataclass(frozen=True)
class Fence:
    """A fenced block: language, title ("" for none), text, and the number of the first line of its text."""

    language: str
    title: str
    text: str
    line: int


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
        found += [Prose(page[end : match.start()]), Fence(info["language"], info["title"] or "", match[2], line)]
        end = match.end()
    return [*found, Prose(page[end:])]


def fences(page: str) -> list[Fence]:
    """Return the fenced blocks of a page, in order."""
    return [part for part in parts(page) if isinstance(part, Fence)]

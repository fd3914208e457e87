"""Diff of two programs as HTML lines, with changed words highlighted."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from tir_mlir.dialect.diagnostics import tokens

SAME, GONE, NEW, HERE = " ", "-", "+", "!"
_WORD = re.compile(r"\w+|\s+|.")
_ALIKE = 0.55  # minimum similarity of two lines for a diff by words

Ranges = Sequence[tuple[int, int]]


def diff_lines(before: Sequence[str], after: Sequence[str]) -> list[tuple[str, str]]:
    """The lines of the diff in order, each as (sign, HTML)."""
    found: list[tuple[str, str]] = []
    for tag, i0, i1, j0, j1 in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag == "equal":
            found += [(SAME, line_html(text)) for text in after[j0:j1]]
            continue
        old, new = before[i0:i1], after[j0:j1]
        marks = _marks(old, new)
        found += [(GONE, line_html(text, marks[0].get(n, ()))) for n, text in enumerate(old)]
        found += [(NEW, line_html(text, marks[1].get(n, ()))) for n, text in enumerate(new)]
    return found


def _marks(old: Sequence[str], new: Sequence[str]) -> tuple[dict[int, Ranges], dict[int, Ranges]]:
    """Pair similar lines; the ranges of their changed words, by line number."""
    gone: dict[int, Ranges] = {}
    made: dict[int, Ranges] = {}
    start = 0
    for n, text in enumerate(old):
        scores = [(SequenceMatcher(None, text, other).ratio(), m) for m, other in enumerate(new) if m >= start]
        score, m = max(scores, key=lambda s: (s[0], -s[1]), default=(0.0, -1))
        if score >= _ALIKE:
            gone[n], made[m] = _changed_words(text, new[m])
            start = m + 1
    return gone, made


def _changed_words(old: str, new: str) -> tuple[Ranges, Ranges]:
    """The ranges where the words of two lines differ, ignoring indentation."""
    one, other = _WORD.findall(old.lstrip()), _WORD.findall(new.lstrip())
    shifts = len(old) - len(old.lstrip()), len(new) - len(new.lstrip())
    gone, made = [], []
    for tag, i0, i1, j0, j1 in SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        if tag != "equal":
            gone.append((shifts[0] + len("".join(one[:i0])), shifts[0] + len("".join(one[:i1]))))
            made.append((shifts[1] + len("".join(other[:j0])), shifts[1] + len("".join(other[:j1]))))
    return gone, made


def line_html(text: str, marked: Ranges = ()) -> str:
    """A program line as HTML: a span per token, `<mark>` around marked ranges."""
    parts, at = [], 0
    for kind, part in tokens(text):
        for piece, is_marked in _pieces(part, at, marked):
            shown = html.escape(piece, quote=False)
            shown = f"<mark>{shown}</mark>" if is_marked else shown
            parts.append(f'<span class="{kind}">{shown}</span>' if kind else shown)
        at += len(part)
    return "".join(parts)


def _pieces(part: str, at: int, marked: Ranges) -> Iterator[tuple[str, bool]]:
    """Cut a part of a line, which starts at column `at`, at the ends of marked ranges."""
    cuts = sorted({at, at + len(part), *(c for span in marked for c in span if at < c < at + len(part))})
    for low, high in zip(cuts, cuts[1:], strict=False):
        yield part[low - at : high - at], any(start <= low and high <= end for start, end in marked)

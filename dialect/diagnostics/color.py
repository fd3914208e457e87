"""Diagnostics in color, for a terminal (escape codes) and for a notebook (HTML)."""

from __future__ import annotations

import html as _html
import os
import re
import sys
import traceback
from types import TracebackType

_WORD = re.compile(r": (refused|not provable|illegal|legal)(?=:|$)")
_MARK = re.compile(r"\^+(  # .*)?$")
_ANSI = {"bad": "1;31", "good": "1;32", "place": "2", "plain": ""}
_CSS = {"bad": "color:#d73a49;font-weight:bold", "good": "color:#22863a;font-weight:bold", "place": "color:#6a737d"}


_TOKEN = re.compile(
    r"(?P<comment>\#.*)|(?P<string>\"(?:\\.|[^\"\\])*\")|(?P<number>\b\d+(?:\.\d+)?(?:e[+-]?\d+)?\b)"
    r"|(?P<keyword>\b(?:def|class|with|for|in|if|else|and|or|not|pass)\b)|(?P<word>\b[TI](?:\.\w+)+)|(?P<decorator>@)"
)
_COLORS = {
    "comment": "#6a737d",
    "string": "#22863a",
    "number": "#005cc5",
    "keyword": "#d73a49",
    "word": "#6f42c1",
    "decorator": "#d73a49",
}


def _pieces(text: str) -> list[tuple[str, str]]:
    """The text split into (style, part)."""
    pieces: list[tuple[str, str]] = []
    for number, line in enumerate(text.splitlines(keepends=True)):
        mark = _MARK.search(line.rstrip("\n")) if line.startswith("  |") else None
        word = _WORD.search(line) if number == 0 else None
        if mark is not None:
            pieces += [("plain", line[: mark.start()]), ("bad", line[mark.start() :])]
        elif word is not None:
            style = "good" if word[1] == "legal" else "bad"
            pieces += [("plain", line[: word.start(1)]), (style, word[1]), ("plain", line[word.end(1) :])]
        elif line.startswith("  fix:"):
            pieces.append(("good", line))
        elif line.startswith("  at "):
            pieces.append(("place", line))
        else:
            pieces.append(("program" if line.startswith("  |") else "plain", line))
    return pieces


def terminal(text: str) -> str:
    """The text with terminal escape codes."""
    return "".join(_ansi(style, part) for style, part in _pieces(text))


PRE = '<pre style="font-family:ui-monospace,Menlo,Consolas,monospace;line-height:1.3">'
"""The start of a program in HTML: in columns, also in pages whose style sheet gives `<pre>` another font."""


def html(text: str) -> str:
    """The text as one `<pre>` element with inline colors."""
    return f"{PRE}{''.join(_span(style, part) for style, part in _pieces(text))}</pre>"


def _ansi(style: str, part: str) -> str:
    code = _ANSI.get(style, "")
    body = part.rstrip("\n")
    return f"\x1b[{code}m{body}\x1b[0m{part[len(body) :]}" if code and body else part


def _span(style: str, part: str) -> str:
    if style == "program":
        return source_html(part)
    escaped = _html.escape(part, quote=False)
    return f'<span style="{_CSS[style]}">{escaped}</span>' if style in _CSS else escaped


def tokens(text: str) -> list[tuple[str, str]]:
    """Source text split into (kind, part): `comment`, `string`, `number`, `keyword`, `word`, `decorator` or ""."""
    parts: list[tuple[str, str]] = []
    end = 0
    for match in _TOKEN.finditer(text):
        parts += [("", text[end : match.start()]), (match.lastgroup or "word", match[0])]
        end = match.end()
    return [(kind, part) for kind, part in [*parts, ("", text[end:])] if part]


def source_html(text: str) -> str:
    """Source text as HTML."""
    parts: list[str] = []
    for kind, part in tokens(text):
        escaped = _html.escape(part, quote=False)
        parts.append(f'<span style="color:{_COLORS[kind]}">{escaped}</span>' if kind else escaped)
    return "".join(parts)


def user_lines(tb: TracebackType | None) -> list[str]:
    """The lines of a traceback without the frames of this package and of the notebook."""
    lines = []
    for frame, line in traceback.walk_tb(tb):
        owner = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if owner not in (__name__.partition(".")[0], "IPython", "ipykernel", "runpy"):
            summary = traceback.FrameSummary(frame.f_code.co_filename, line, frame.f_code.co_name)
            lines += "".join(traceback.format_list([summary])).splitlines()
    return lines


def color_uncaught(kind: type[BaseException]) -> None:
    """Print uncaught errors of one class in color, if stderr is a terminal."""
    if sys.excepthook is not sys.__excepthook__ or "NO_COLOR" in os.environ or not sys.stderr.isatty():
        return

    def hook(type_: type[BaseException], value: BaseException, tb: TracebackType | None) -> None:
        if not isinstance(value, kind):
            sys.__excepthook__(type_, value, tb)
            return
        lines = ["Traceback (most recent call last):\n", *traceback.format_tb(tb)]
        sys.stderr.write("".join(lines) + terminal(f"{type_.__name__}: {value}") + "\n")

    sys.excepthook = hook

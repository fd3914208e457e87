"""The text of a refusal in colour: the same lines in a terminal (escape codes) and in a notebook (HTML)."""

from __future__ import annotations

import html as _html
import re

from tir_mlir.script.highlight import coloured

_WORD = re.compile(r": (refused|not provable|illegal|legal)(?=:|$)")
_MARK = re.compile(r"\^+(  # .*)?$")
_ANSI = {"bad": "1;31", "good": "1;32", "place": "2", "plain": ""}
_CSS = {"bad": "color:#d73a49;font-weight:bold", "good": "color:#22863a;font-weight:bold", "place": "color:#6a737d"}


def _pieces(text: str) -> list[tuple[str, str]]:
    """The text cut into (style, part)."""
    found: list[tuple[str, str]] = []
    for number, line in enumerate(text.splitlines(keepends=True)):
        mark = _MARK.search(line.rstrip("\n")) if line.startswith("  |") else None
        word = _WORD.search(line) if number == 0 else None
        if mark is not None:
            found += [("plain", line[: mark.start()]), ("bad", line[mark.start() :])]
        elif word is not None:
            style = "good" if word[1] == "legal" else "bad"
            found += [("plain", line[: word.start(1)]), (style, word[1]), ("plain", line[word.end(1) :])]
        elif line.startswith("  fix:"):
            found.append(("good", line))
        elif line.startswith("  at "):
            found.append(("place", line))
        else:
            found.append(("program" if line.startswith("  |") else "plain", line))
    return found


def terminal(text: str) -> str:
    """With escape codes for a terminal."""
    return "".join(_ansi(style, part) for style, part in _pieces(text))


def html(text: str) -> str:
    """As one `<pre>` element with colours of its own."""
    return f'<pre style="line-height:1.3">{"".join(_span(style, part) for style, part in _pieces(text))}</pre>'


def _ansi(style: str, part: str) -> str:
    code = _ANSI.get(style, "")
    body = part.rstrip("\n")
    return f"\x1b[{code}m{body}\x1b[0m{part[len(body) :]}" if code and body else part


def _span(style: str, part: str) -> str:
    if style == "program":
        return coloured(part)
    shown = _html.escape(part, quote=False)
    return f'<span style="{_CSS[style]}">{shown}</span>' if style in _CSS else shown

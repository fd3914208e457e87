"""A self-contained HTML page in light and dark: the frame around the steps of a schedule, and around a search."""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import Any

from tir_mlir.visual import palette

_FOLDER = Path(__file__).parent


def read(name: str) -> str:
    """A file of this package: a style sheet, a script, a part of a page."""
    return (_FOLDER / name).read_text(encoding="utf-8")


def document(title: str, body: str, target: str, style: str = "", script: str = "", data: Any = None) -> str:
    """A page as HTML text, with a title and a button for the colors; it takes nothing from elsewhere.

    body: HTML. target: the id of the element that the skip link leads to. data: for the script, as JSON in #data.
    """
    json_text = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    texts = {
        "title": html.escape(title),
        "style": _variables() + palette.page_style() + read("shell.css") + style,
        "body": body,
        "target": target,
        "data": "" if data is None else f'<script type="application/json" id="data">{json_text}</script>',
        "script": read("theme.js") + script,
    }
    text = read("shell.html")
    for key, value in texts.items():
        text = text.replace(f"<!-- {key} -->", value)
    return text


def _variables() -> str:
    light, dark = palette.variables(palette.LIGHT), palette.variables(palette.DARK)
    return f":root {{ color-scheme: light; {light} }}\n:root[data-theme=dark] {{ color-scheme: dark; {dark} }}\n"

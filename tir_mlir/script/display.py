"""Syntax-colored output of programs: rich in a terminal, HTML in a notebook, plain text elsewhere."""

from __future__ import annotations

import sys
from typing import Protocol, TextIO

from tir_mlir.dialect.diagnostics import PRE, source_html

LONGEST_LINE = 2000


class Highlighted(str):
    """Program text that a notebook shows in color."""

    def _repr_html_(self) -> str:
        return html(self)


def show(text: str, file: TextIO | None = None) -> None:
    """Write a program to `file` (default: stdout): HTML in a notebook, colored in a terminal, plain otherwise.

    Lines longer than 2000 characters (LLVM IR of a kernel in an annotation) are truncated; `script()` is complete.
    """
    target = file or sys.stdout
    text = truncate_lines(text)
    if file is None and _in_notebook():
        from IPython.display import display  # type: ignore[import-not-found]

        display(Highlighted(text))
    elif target.isatty():
        _show_in_terminal(text, target)
    else:
        target.write(text + "\n")


class Shown(Protocol):
    """An object that renders itself for a terminal."""

    def terminal(self) -> str: ...


def show_rich(text: Shown, file: TextIO | None = None) -> None:
    """Write an object that renders itself: `_repr_html_()` in a notebook, `terminal()` in a terminal, else `str()`."""
    target = file or sys.stdout
    if file is None and _in_notebook():
        from IPython.display import display  # type: ignore[import-not-found]

        display(text)
    else:
        target.write((text.terminal() if target.isatty() else str(text)) + "\n")


def truncate_lines(text: str) -> str:
    """Truncate very long lines and append the number of characters dropped."""
    return "\n".join(_truncate(line) for line in text.splitlines())


def _truncate(line: str) -> str:
    excess = len(line) - LONGEST_LINE
    return line if excess <= 0 else f"{line[:LONGEST_LINE]} ...  # {excess} characters more"


def html(text: str) -> str:
    """The program as one `<pre>` element with inline colors; no style sheet is needed."""
    return f"{PRE}{source_html(text)}</pre>"


def _show_in_terminal(text: str, file: TextIO) -> None:
    from rich.console import Console
    from rich.syntax import Syntax

    Console(file=file, soft_wrap=True).print(Syntax(text, "python", background_color="default"), soft_wrap=True)


def _in_notebook() -> bool:
    """Whether the output goes to a Jupyter notebook. Does not import IPython."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None  # type: ignore[attr-defined]
    return shell is not None and shell.__class__.__name__ == "ZMQInteractiveShell"

"""Programs in colour: in a terminal through rich, in a notebook as HTML, plain everywhere else."""

from __future__ import annotations

import sys
from typing import Any, TextIO

from tir_mlir.dialect.diagnostics import coloured

LONGEST_LINE = 2000


class Highlighted(str):
    """Program text that a notebook shows in colour."""

    def _repr_html_(self) -> str:
        return html(self)


def show(text: str, file: TextIO | None = None) -> None:
    """Write a program: as HTML in a notebook, coloured in a terminal, plain into files and pipes.

    Lines of more than 2000 characters (a kernel's LLVM code in an annotation) are cut; `script()` has them whole.
    """
    target = file or sys.stdout
    text = shortened(text)
    if file is None and _in_notebook():
        from IPython.display import display  # type: ignore[import-not-found]

        display(Highlighted(text))
    elif target.isatty():
        _show_in_terminal(text, target)
    else:
        target.write(text + "\n")


def put(text: Any, file: TextIO | None = None) -> None:
    """Write a text that has a form of its own for a notebook (`_repr_html_`) and for a terminal (`terminal()`)."""
    target = file or sys.stdout
    if file is None and _in_notebook():
        from IPython.display import display  # type: ignore[import-not-found]

        display(text)
    else:
        target.write((text.terminal() if target.isatty() else str(text)) + "\n")


def shortened(text: str) -> str:
    """Cut very long lines and say how much is missing."""
    return "\n".join(_cut(line) for line in text.splitlines())


def _cut(line: str) -> str:
    more = len(line) - LONGEST_LINE
    return line if more <= 0 else f"{line[:LONGEST_LINE]} ...  # {more} characters more"


def html(text: str) -> str:
    """The program as one `<pre>` element with inline colours, so that it needs no style sheet."""
    return f'<pre style="line-height:1.3">{coloured(text)}</pre>'


def _show_in_terminal(text: str, file: TextIO) -> None:
    from rich.console import Console
    from rich.syntax import Syntax

    Console(file=file, soft_wrap=True).print(Syntax(text, "python", background_color="default"), soft_wrap=True)


def _in_notebook() -> bool:
    """Whether the output goes to a Jupyter front end (IPython is asked only if it is already loaded)."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None  # type: ignore[attr-defined]
    return shell is not None and shell.__class__.__name__ == "ZMQInteractiveShell"

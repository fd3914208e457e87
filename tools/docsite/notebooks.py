"""Convert a tutorial page to a Jupyter notebook; the Markdown is the only source.

Prose becomes Markdown cells, Python blocks become code cells, and each titled file is written by a cell. Output blocks
are dropped: running the notebook produces them.
"""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from docsite.fences import OUTPUT, Fence, parts, without_marks

ROOT = Path(__file__).resolve().parents[2]
TUTORIALS = ROOT / "docs" / "tutorials"
_OTHER_FORMS = re.compile(r"^\[[^]]*\]\([^)]*\.(?:ipynb|html)\).*\n", re.M)  # links to the notebook, to the step viewer
_LINK = re.compile(r"\[([^]]+)\]\((?!https?:)[^)]+\)")


def tutorials() -> list[Path]:
    """Return the pages that are also available as notebooks."""
    return sorted(path for path in TUTORIALS.glob("*.md") if path.stem != "index")


def notebook(page: Path) -> NotebookNode:
    """Return the notebook of a tutorial page. Cells are numbered, so that the output is deterministic."""
    cells = [cell for part in parts(page.read_text(encoding="utf-8")) if (cell := _cell(part)) is not None]
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    made = new_notebook(cells=cells, metadata={"kernelspec": kernel, "language_info": {"name": "python"}})
    nbformat.validate(made)
    return made


def text(page: Path) -> str:
    """Return the text of the `.ipynb` file."""
    return nbformat.writes(notebook(page))


def _cell(part: object) -> NotebookNode | None:
    if not isinstance(part, Fence):
        prose = _LINK.sub(r"\1", _OTHER_FORMS.sub("", without_marks(getattr(part, "text", "")))).strip()
        return new_markdown_cell(prose) if prose else None
    if part.title == OUTPUT:
        return None
    if part.title:
        return new_code_cell(f"%%writefile {part.title}\n{part.text.rstrip()}")
    if part.language == "python":
        return new_code_cell(part.text.rstrip())
    return new_markdown_cell(f"```{part.language}\n{part.text.rstrip()}\n```")

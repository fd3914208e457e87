"""Convert a tutorial page to a Jupyter notebook; the Markdown is the only source.

Prose becomes Markdown cells with the page's pictures, Python blocks become code cells, and each titled file is written
by a cell. An output block, which tests compare with a run, is the output of the cell before it. The first code cell
installs the package where it is missing.
"""

from __future__ import annotations

import base64
import re
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from docsite.fences import OUTPUT, Fence, parts, without_marks

ROOT = Path(__file__).resolve().parents[2]
TUTORIALS = ROOT / "docs" / "tutorials"
_OTHER_FORMS = re.compile(r"^\[[^]]*\]\([^)]*\.(?:ipynb|html)\).*\n", re.M)  # links to the notebook, to the step viewer
_PICTURE = re.compile(r"!\[([^]]*)\]\((?!https?:)([^)#]+\.svg)[^)]*\)(?:\{[^}]*\})?")
_LINK = re.compile(r"(?<!!)\[([^]]+)\]\((?!https?:)[^)]+\)")
INSTALL = """\
try:
    import tir_mlir
except ImportError:
    %pip install -q "tir-mlir[c,tune]"
"""


def tutorials() -> list[Path]:
    """Return the pages that are also available as notebooks."""
    return sorted(path for path in TUTORIALS.glob("*.md") if path.stem != "index")


def notebook(page: Path) -> NotebookNode:
    """Return the notebook of a tutorial page. Cells are numbered, so that the output is deterministic."""
    cells: list[NotebookNode] = []
    for part in parts(page.read_text(encoding="utf-8")):
        if isinstance(part, Fence) and part.title == OUTPUT:
            shown = new_output("stream", name="stdout", text=part.text)
            next(cell for cell in reversed(cells) if cell.cell_type == "code").outputs.append(shown)
        elif (cell := _cell(part, page.parent)) is not None:
            cells.append(cell)
    first = next((n for n, cell in enumerate(cells) if cell.cell_type == "code"), len(cells))
    cells.insert(first, new_code_cell(INSTALL.rstrip()))
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    made = new_notebook(cells=cells, metadata={"kernelspec": kernel, "language_info": {"name": "python"}})
    nbformat.validate(made)
    return made


def text(page: Path) -> str:
    """Return the text of the `.ipynb` file."""
    return nbformat.writes(notebook(page))


def _cell(part: object, folder: Path) -> NotebookNode | None:
    if not isinstance(part, Fence):
        prose = _LINK.sub(r"\1", _OTHER_FORMS.sub("", without_marks(getattr(part, "text", "")))).strip()
        return _prose(prose, folder) if prose else None
    if part.title:
        return new_code_cell(f"%%writefile {part.title}\n{part.text.rstrip()}")
    if part.language == "python":
        return new_code_cell(part.text.rstrip())
    return new_markdown_cell(f"```{part.language}\n{part.text.rstrip()}\n```")


def _prose(text: str, folder: Path) -> NotebookNode:
    """A Markdown cell that brings its pictures."""
    pictures: dict[str, dict[str, str]] = {}

    def attached(match: re.Match[str]) -> str:
        file = folder / match[2]
        pictures[file.name] = {"image/svg+xml": base64.b64encode(file.read_bytes()).decode()}
        return f"![{match[1]}](attachment:{file.name})"

    cell = new_markdown_cell(_PICTURE.sub(attached, text))
    if pictures:
        cell["attachments"] = pictures
    return cell

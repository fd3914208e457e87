"""A griffe extension for the API pages: `Schedule` methods without a docstring get that of their primitive."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import griffe

PAGES = Path(__file__).resolve().parents[2] / "docs" / "reference" / "primitives"


class PrimitiveDocs(griffe.Extension):
    """Insert the first sentence of a primitive's reference page, with a link to it."""

    def on_function_instance(self, *, func: griffe.Function, **_: Any) -> None:
        page = PAGES / f"{func.name}.md"
        inside = func.parent is not None and func.parent.is_class and ".schedule." in func.path
        if inside and func.docstring is None and page.exists():
            summary = page.read_text(encoding="utf-8").split("```")[2].strip().split("\n\n")[0]
            link = f'<a href="../../primitives/{func.name}/">Reference</a>'  # a link of Markdown would be a file
            func.docstring = griffe.Docstring(f"{summary}\n\n{link}", parent=func)

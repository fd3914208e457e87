"""Hooks of `mkdocs.yml`: folders in the navigation, notebooks and step viewers of tutorials, MLIR highlighting."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from pygments.lexers import LEXERS

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from docsite import notebooks, step_pages

LEXERS["MlirLexer"] = ("docsite.mlir_lexer", "MLIR", ("mlir",), ("*.mlir",), ())


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Expand each folder in the navigation (`name/`) to its pages, `index.md` first."""
    config.nav = _expanded(config.nav, Path(config.docs_dir))
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the notebook `notebooks/NAME.ipynb` of each tutorial, and the step viewers `steps/NAME.html`."""
    for page in notebooks.tutorials():
        files.append(File.generated(config, f"notebooks/{page.stem}.ipynb", content=notebooks.text(page)))
    for page in step_pages.linking():
        files.append(File.generated(config, step_pages.name(page), content=step_pages.text(page)))
    return files


def _expanded(nav: Any, docs: Path) -> Any:
    if isinstance(nav, list):
        return [_expanded(item, docs) for item in nav]
    if isinstance(nav, dict):
        return {title: _expanded(item, docs) for title, item in nav.items()}
    if not nav.endswith("/"):
        return nav
    pages = sorted((docs / nav).glob("*.md"), key=lambda page: (page.stem != "index", page.stem))
    return [page.relative_to(docs).as_posix() for page in pages]

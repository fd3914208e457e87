"""The tutorials as notebooks: made from the pages, and run from the first cell to the last."""

import os

import nbclient
import nbformat
import pytest

from docsite import notebooks
from docsite.fences import OUTPUT, fences

PAGES = notebooks.tutorials()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_notebook_has_the_code_of_the_page(page):
    code = [f for f in fences(page.read_text()) if f.title != OUTPUT and (f.title or f.language == "python")]
    shown = [f"%%writefile {f.title}\n{f.text.rstrip()}" if f.title else f.text.rstrip() for f in code]
    cells = [cell.source for cell in notebooks.notebook(page).cells if cell.cell_type == "code"]
    assert [notebooks.INSTALL.rstrip(), *shown] == cells and len(cells) > 5


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_notebook_has_the_outputs_of_the_page(page):
    printed = [f.text for f in fences(page.read_text()) if f.title == OUTPUT]
    cells = [cell for cell in notebooks.notebook(page).cells if cell.cell_type == "code"]
    assert [output.text for cell in cells for output in cell.outputs] == printed


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_prose_has_no_links_into_the_site(page):
    prose = [cell.source for cell in notebooks.notebook(page).cells if cell.cell_type == "markdown"]
    assert not [text for text in prose if ".md)" in text or ".ipynb)" in text]


@pytest.mark.nightly
@pytest.mark.few(1)
@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_notebook_runs(page, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(notebooks.ROOT), os.environ.get("PYTHONPATH", "")]))
    made = nbformat.reads(notebooks.text(page), as_version=4)
    nbclient.NotebookClient(made, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    printed = [out for cell in made.cells if cell.cell_type == "code" for out in cell.outputs]
    assert printed and not [out for out in printed if out.output_type == "error"]

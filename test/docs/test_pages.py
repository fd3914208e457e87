"""Every code block of the README and of the site runs and prints the output shown on the page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import tir_mlir.accel  # noqa: F401  registers its back end once, before any page does
from docsite import gallery, page_pictures, picture, summary, update_outputs
from docsite.examples import PageError, pattern, run_page
from docsite.fences import NUMBERS, fences
from tir_mlir.dialect.computation import intrinsics
from tir_mlir.passes.lower import LOWERINGS, pipeline
from tir_mlir.passes.schedule import PRIMITIVES
from tir_mlir.runtime.kernels.registry import _kernels
from tir_mlir.target import predefined
from tir_mlir.targets import registry

ROOT = Path(__file__).resolve().parents[2]
GENERATED = (
    "docs/reference/primitives/",  # test/project/test_manual.py makes them again and compares
    "docs/reference/lowering-passes.md",
    "docs/reference/tir.md",
)
_PATHS = (ROOT / "README.md", ROOT / "dialect" / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
PAGES = [path.relative_to(ROOT).as_posix() for path in _PATHS]
LONG = ("docs/tutorials/", "docs/programs/")
_LONG_TUTORIALS = ("amx", "attention", "gpt", "mlp", "resnet", "tuning")
NIGHTLY = (
    "docs/gallery.md",
    *(f"docs/guides/{n}.md" for n in ("import-models", "low-precision", "models", "offload", "tuning")),
    "docs/gpu/models.md",
    "docs/machines/bring-up.md",
    *(f"docs/programs/{n}.md" for n in ("attention", "depthwise", "images", "sequences")),
    *(f"docs/tutorials/{n}.md" for n in _LONG_TUTORIALS),
)
"""Pages that search for schedules, or build several models: seconds each."""
OWN_CACHE = ("docs/guides/build.md",)
"""Pages that copy the whole cache, which is as large as its user made it."""
WRITTEN = [page for page in PAGES if not page.startswith(GENERATED)]


@pytest.fixture
def registries_restored() -> Iterator[None]:
    """Forget the primitives, passes, kernels, intrinsics and targets that a page registers."""
    import_module("tir_mlir.accel")  # registers its back end once, when it is imported
    tables = (PRIMITIVES, LOWERINGS, _kernels, intrinsics._known, registry._REGISTERED, predefined._REGISTERED)
    before = [dict(table) for table in tables]
    yield
    for table, old in zip(tables, before, strict=True):
        table.clear()
        table.update(old)


def _marks(page: str) -> list[pytest.MarkDecorator]:
    return [pytest.mark.nightly] if page in NIGHTLY else [pytest.mark.slow] if page.startswith(LONG) else []


@pytest.mark.parametrize("page", [pytest.param(p, marks=_marks(p)) for p in WRITTEN])
def test_code_runs_and_prints_what_is_shown(page, tmp_path, monkeypatch, registries_restored):
    monkeypatch.chdir(tmp_path)
    if page in OWN_CACHE:
        monkeypatch.setenv("TIR_CACHE_DIR", str(tmp_path / "cache"))
    run_page(ROOT / page, tmp_path)


def test_readme_links_lead_somewhere():
    for target in re.findall(r"\]\(([^)#:]+)\)", (ROOT / "README.md").read_text()):
        assert (ROOT / target).exists(), target


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text().splitlines()) <= 200


@pytest.mark.parametrize("name", picture.PICTURES)
def test_the_picture_shows_the_ladder_of_the_page(name):
    assert (picture.IMAGES / name).read_text() == picture.draw(picture.PAGE.read_text(), picture.PICTURES[name])


def test_the_summary_shows_the_tables_of_the_page():
    assert summary.PICTURE.read_text() == summary.draw(picture.PAGE.read_text())


def test_the_gallery_shows_the_ratios_of_the_tables():
    assert page_pictures.unstyled(gallery.PICTURE.read_text()) == page_pictures.unstyled(gallery.draw())
    page = gallery.GALLERY.read_text()
    assert [card.slug for card in gallery.cards() if card.short not in page or card.sentence not in page] == []


def test_the_page_on_the_pipeline_has_its_order():
    """The table names the passes of `pass_names`, and no others, in order."""
    page = (ROOT / "docs" / "internals" / "pipeline.md").read_text().partition("| Passes |")[2].partition("\n\n")[0]
    shown = [name for row in page.splitlines()[2:] for name in re.findall(r"`([\w-]+)`", row.split("|")[1])]
    assert shown == [name.partition("{")[0] for name in pipeline.pass_names(parallel=True)]


def test_the_runner_finds_faults(tmp_path, monkeypatch):
    """A page that prints something else, prints more, raises, or names a command that is not there."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("docsite.examples.ROOT", tmp_path)
    (tmp_path / "Makefile").write_text("check:\n")
    page = tmp_path / "page.md"
    right = '```python\nprint("x", 3)\n```\n\n<!-- varies: numbers -->\n```text title="output"\nx 4\n```\n'
    page.write_text(right)
    run_page(page, tmp_path)
    for wrong in (
        right.replace("x 4", "y 4"),
        "```python\nprint(1)\n```\n",
        "```python\n1 / 0\n```\n",
        "```sh\nmake nothing\n```\n",
        "```sh\npip install 'tir-mlir[nothing]'\n```\n",
        "```mlir\nmodule { nonsense }\n```\n",
        "```rust\nfn main() {}\n```\n",
    ):
        page.write_text(wrong)
        with pytest.raises((PageError, FileNotFoundError)):
            run_page(page, tmp_path)


def test_output_patterns():
    assert pattern("a\n...\nz", ["b c"]).fullmatch("a\n1\n2\nz\n")
    assert not pattern("a\n...\nz").fullmatch("a\n1\n2\ny\n")
    assert pattern("took 1.5 s by me", ["me", NUMBERS]).fullmatch("took   12.25 s by them\n")
    assert not pattern("took 1.5 s by me", [NUMBERS]).fullmatch("took 12.25 s by them\n")
    page = '<!-- varies: numbers, "x, y" -->\n```text title="output"\nx, y\n```\n'
    assert [(f.title, f.varying) for f in fences(page)] == [("output", (NUMBERS, "x, y"))]
    for wrong in ("```python output\nx\n```\n", page.replace("numbers", "words")):
        with pytest.raises(ValueError, match=r"line [01]"):
            fences(wrong)


def test_outputs_and_pictures_are_written_again(tmp_path, monkeypatch):
    """Outputs that match stay, others become what is printed; so do pictures that the code saves."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(update_outputs, "ROOT", tmp_path)
    monkeypatch.setattr(page_pictures, "IMAGES", tmp_path / "images")
    (tmp_path / "images").mkdir()
    page = tmp_path / "page.md"
    kept = '```python\nprint("a c")\n```\n\n<!-- varies: "b" -->\n```text title="output"\na b\n```\n'
    code = "open('p.svg', 'w').write('<text>1 ms</text>')"
    drawn = f"```python\n_ = {code}\n```\n\n<!-- varies: numbers -->\n![p](images/p.svg)\n"
    page.write_text(kept + kept.replace("a b", "c\nd") + drawn)
    assert update_outputs.update(page) == 2
    assert page.read_text() == kept + kept.replace("a b", "a c") + drawn
    (tmp_path / "images" / "p.svg").write_text("<text>2 ms</text>")
    assert update_outputs.update(page) == 0
    (tmp_path / "images" / "p.svg").write_text("<text>2 us</text>")
    assert update_outputs.update(page) == 1
    page.write_text("![p](images/p.svg)\n" + drawn.replace("numbers", "everything"))
    (tmp_path / "images" / "p.svg").write_text("<text>2 us</text>")
    assert update_outputs.update(page) == 0

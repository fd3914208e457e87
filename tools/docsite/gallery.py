"""The ratios of `docs/gallery.md`, from the tables of `docs/performance.md`, and the picture `docs/images/gallery.svg`.

Regenerate the picture with `python -m docsite.gallery` in `tools`; the tests compare it, and the sentences of the page.
"""

from __future__ import annotations

from dataclasses import dataclass

from docsite.picture import PAGE, ROOT
from docsite.summary import tables
from tir_mlir.visual import bars

GALLERY = ROOT / "docs" / "gallery.md"
PICTURE = ROOT / "docs" / "images" / "gallery.svg"
LIBRARIES = {"numpy": "OpenBLAS", "mkl": "MKL", "torch": "PyTorch"}
LABELS = {"PyTorch": "PyTorch", "compiled": "torch.compile", "ONNX Runtime": "ONNX Runtime"}


@dataclass(frozen=True)
class Row:
    """A row of a table: how its machine's name begins, and cells of the row that no other one has together."""

    slug: str
    machine: str
    cells: tuple[str, ...]
    size: str = ""
    peer: str = ""
    """The peer of a table that has ratios only."""


ROWS = (
    Row("product", "EPYC 9004", ("A @ B.T", "1024 x 1024 x 1024", "1"), "1024 x 1024 x 1024"),
    Row("convolution", "EPYC 9004", ("conv2d, resnet-50", "1"), "the layers of ResNet-50"),
    Row("attention", "EPYC 9004", ("attention", "12 x 512 x 64", "1"), "12 heads of 512 x 64"),
    Row("softmax", "EPYC 9004", ("softmax", "1024 x 1024", "1"), "1024 x 1024"),
    Row("stencil", "EPYC 9004", ("uint8 blur",), "1080 x 1920", "NumPy"),
    Row("int8", "EPYC 9004", ("A @ B, int8 in int32", "1024 x 1024 x 1024", "1"), "1024 x 1024 x 1024"),
    Row("int4", "EPYC 9004", ("int4 gemv",), "4096 x 4096", "PyTorch"),
    Row("accelerator", "EPYC 7003", ("chapter, tensorized, kernel in MLIR", "1"), "1024 x 1024 x 1024"),
    Row("batch", "EPYC 9004", ("A @ B, symbolic sizes", "1024 x 1024 x 1024", "1"), "1024 x 1024 x 1024"),
    Row("resnet", "EPYC 9004", ("`resnet50`", "224 x 224, batch 1", "62.0"), "224 x 224"),
    Row("gpt", "EPYC 9004", ("`gpt2-decode`", "one token after 128", "16.5"), "a token after 128"),
)
TITLES = {
    "product": "Matrix product", "convolution": "Convolution", "attention": "Attention", "softmax": "Softmax",
    "stencil": "Blur of bytes", "int8": "int8 product", "int4": "4-bit weights", "accelerator": "An accelerator",
    "batch": "A dynamic batch", "resnet": "ResNet-50", "gpt": "A language model",
}  # fmt: skip


@dataclass(frozen=True)
class Card:
    """A program of the gallery: its ratio to a library, None if no table has it, and what the page says of it."""

    slug: str
    ratio: float | None
    short: str
    sentence: str


def cards() -> list[Card]:
    """Return the programs of the gallery. Errors: ValueError for a row that no table, or more than one, has."""
    page = list(tables(PAGE.read_text(encoding="utf-8")))
    found = [_card(row, page) for row in ROWS]
    gpu = "**0.91** times the speed of PyTorch: 4096 x 4096 x 4096 in `float32`, [on an H200](gpu/run.md#on-an-h200)."
    found.append(Card("gpu", None, "0.91 x PyTorch", gpu))
    searched = "As a search leaves it: see the [tutorial](tutorials/tuning.md#the-search-of-the-library)."
    return [*found, Card("tuning", None, "searched", searched)]


def _card(row: Row, page: list[tuple[str, list[str], list[list[str]]]]) -> Card:
    matching = [
        (machine, dict(zip(head, cells, strict=True)))
        for machine, head, rows in page
        for cells in rows
        if machine.startswith(row.machine) and all(cell in cells for cell in row.cells)
    ]
    if len(matching) != 1:
        raise ValueError(f"{PAGE}: {len(matching)} rows of {row.machine} have {', '.join(row.cells)}")
    machine, cells = matching[0]
    ratio, peer = _ratio(row, cells)
    what = f"{row.size}, one thread of an AMD {machine}"
    shown = f"{ratio:.2f}" if ratio < 10 else f"{ratio:.3g}"
    return Card(row.slug, ratio, f"{shown} x {peer}", f"**{shown}** times the speed of {peer}: {what}.")


def _ratio(row: Row, cells: dict[str, str]) -> tuple[float, str]:
    """Our speed over that of the best library of the row."""
    if row.peer:
        return float(cells[f"times {row.peer}"]), row.peer
    if "times" in cells:
        peer = min((name for name in LABELS if cells.get(name)), key=lambda name: float(cells[name]))
        return float(cells["times"]), LABELS[peer]
    best = max((name for name in LIBRARIES if cells.get(name)), key=lambda name: float(cells[name]))
    return float(cells["ours"]) / float(cells[best]), LIBRARIES[best]


def draw() -> str:
    """Return the picture of the ratios as SVG."""
    rows = [(f"{TITLES[c.slug]}, {c.short.split(' x ')[1]}", round(c.ratio, 2)) for c in cards() if c.ratio]
    return bars(rows, "", "Our speed over that of a library", "1 is as fast; see each program").svg + "\n"


if __name__ == "__main__":
    PICTURE.write_text(draw(), encoding="utf-8")

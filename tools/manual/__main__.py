"""Write the generated reference pages: `python tools/manual [FOLDER]` (default: docs/reference)."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1])]

import annotation_table  # noqa: E402
import blocks  # noqa: E402, F401  the examples of each group register themselves
import buffers  # noqa: E402, F401
import graph_passes  # noqa: E402
import looking  # noqa: E402, F401
import loops  # noqa: E402, F401
import lowering_passes  # noqa: E402
import moving  # noqa: E402, F401
import onnx_table  # noqa: E402
import operator_table  # noqa: E402
import sampling  # noqa: E402, F401
import tir_words  # noqa: E402
from pages import PAGES, index, page  # noqa: E402


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=HERE.parents[1] / "docs" / "reference")
    folder = parser.parse_args().folder
    primitives = folder / "primitives"
    primitives.mkdir(parents=True, exist_ok=True)
    for old in primitives.glob("*.md"):
        if old.stem not in PAGES:
            old.unlink()
    for name in PAGES:
        (primitives / f"{name}.md").write_text(page(name), encoding="utf-8")
    (primitives / "index.md").write_text(index(), encoding="utf-8")
    (folder / "annotations.md").write_text(annotation_table.page(), encoding="utf-8")
    (folder / "graph-passes.md").write_text(graph_passes.page(), encoding="utf-8")
    (folder / "lowering-passes.md").write_text(lowering_passes.page(), encoding="utf-8")
    (folder / "onnx-operators.md").write_text(onnx_table.page(), encoding="utf-8")
    (folder / "operators.md").write_text(operator_table.page(), encoding="utf-8")
    (folder / "tir.md").write_text(tir_words.page(), encoding="utf-8")


if __name__ == "__main__":
    main()

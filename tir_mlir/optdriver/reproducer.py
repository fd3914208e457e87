"""A file with the module before the step that failed and the steps left: `tir-opt FILE` does it again."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tir_mlir.optdriver.pipeline import Step

_HEAD = "// tir-opt reproducer; `tir-opt THIS_FILE` runs the pipeline of the next line."
_PIPELINE = re.compile(r"// pipeline: (.*)")


def content(module_text: str, steps: Sequence[Step]) -> str:
    """The text of a reproducer."""
    names = ",".join(step.text for step in steps)
    return f"{_HEAD}\n// pipeline: builtin.module({names})\n{module_text}"


def save(text: str, path: str | None = None) -> str:
    """Write a reproducer to a path, or to a new temporary file; the path."""
    if path is not None:
        Path(path).write_text(text, encoding="utf-8")
        return path
    with tempfile.NamedTemporaryFile("w", prefix="tir-opt-", suffix=".mlir", delete=False, encoding="utf-8") as file:
        file.write(text)
    return file.name


def pipeline_of(text: str) -> str | None:
    """The pipeline that a reproducer carries; None for any other text."""
    if not text.startswith(_HEAD):
        return None
    match = _PIPELINE.match(text[len(_HEAD) + 1 :])
    return match[1].strip() if match else None

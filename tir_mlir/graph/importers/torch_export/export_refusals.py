"""Why torch.export refuses a model, in one line, with the line of the model."""

from __future__ import annotations

import linecache
import re
import sys
import traceback
from pathlib import Path

from tir_mlir import sources
from tir_mlir.dialect.diagnostics import GraphError

_FIX = re.compile(r"\s*\w+ = [^=]")
_DATA = ("data-dependent", "DataDependent", "Dynamic control flow")


class NumberNeeded(GraphError):
    """torch.export does not know a number, or which way to go."""


def export_refusal(error: BaseException) -> GraphError:
    """The GraphError for an exception of torch.export."""
    message = f"{type(error).__name__} {error}"
    source_line = _line_of_model(error)
    location = f"\n    {source_line}" if source_line else ""
    if any(word in message for word in _DATA):
        return NumberNeeded(
            f"from_torch: the model needs a number or a decision that is known only when it runs{location}\n"
            "  fix: torch.where(condition, a, b) of both results; or decide in Python, between two models,\n"
            "  or one for each number"
        )
    first = next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)
    made_a_number = "Constraints violated" in message
    if made_a_number:
        first = "; ".join(["the sizes are not as forward needs them", *suggested_fixes(error)])
    fix = "\n  fix: leave the size out of dynamic_shapes, or remove what needs one number" if made_a_number else ""
    return GraphError(f"from_torch: torch.export.export refused the model: {first}{location}{fix}")


def suggested_fixes(error: BaseException) -> list[str]:
    """What torch says of the sizes that forward needs: `n = 8*_n`, `n = Dim('n', max=512)`, `n = 4`."""
    return [line.strip() for line in str(error).partition("Suggested fixes:")[2].splitlines() if _FIX.match(line)]


def _line_of_model(error: BaseException) -> str:
    """`model.py:12: if x.sum() > 0:`, the innermost line of the traceback that is of no library; "" without one."""
    libraries = [Path(str(sys.modules["torch"].__file__)).parent, *map(Path, sources.FOLDERS)]
    frames = traceback.extract_tb(error.__traceback__)
    user_frames = [f for f in frames if not f.filename.startswith("<frozen") and not _is_below(f.filename, libraries)]
    return (
        ""
        if not user_frames
        else f"{Path(user_frames[-1].filename).name}:{user_frames[-1].lineno}: {_code(user_frames[-1])}"
    )


def _is_below(file: str, folders: list[Path]) -> bool:
    return any(Path(file).is_relative_to(folder) for folder in folders) or file.startswith("<eval_with_key>")


def _code(frame: traceback.FrameSummary) -> str:
    return (frame.line or linecache.getline(frame.filename, frame.lineno or 0)).strip()

"""Lines of a model as errors name them, and why torch.export refuses one, in one line."""

from __future__ import annotations

import linecache
import re
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

from tir_mlir import sources
from tir_mlir.dialect.diagnostics import GraphError

if TYPE_CHECKING:
    import torch

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


_FRAME = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+), in \S+\n(?P<code>[^\n]*)')


def source_line(node: torch.fx.Node) -> str:
    """`model.py:12: y = torch.cdist(a, b)`, the innermost line outside torch; "" if there is none."""
    frames = list(_FRAME.finditer(node.meta.get("stack_trace") or ""))
    torch = Path(str(sys.modules["torch"].__file__)).parent
    frames = [f for f in frames if not f["file"].startswith("<eval_with_key>")]  # of graphs that torch made
    user_frames = [f for f in frames if not Path(f["file"]).is_relative_to(torch)] or frames
    if not user_frames:
        return ""
    return f"{Path(user_frames[-1]['file']).name}:{user_frames[-1]['line']}: {user_frames[-1]['code'].strip()}"

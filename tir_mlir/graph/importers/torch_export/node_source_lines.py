"""Lines of a model, as errors name them."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

_FRAME = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+), in \S+\n(?P<code>[^\n]*)')


def source_line(node: Any) -> str:
    """`model.py:12: y = torch.cdist(a, b)`, the innermost line outside torch; "" if there is none."""
    frames = list(_FRAME.finditer(node.meta.get("stack_trace") or ""))
    torch = Path(str(sys.modules["torch"].__file__)).parent
    frames = [f for f in frames if not f["file"].startswith("<eval_with_key>")]  # of graphs that torch made
    user_frames = [f for f in frames if not Path(f["file"]).is_relative_to(torch)] or frames
    if not user_frames:
        return ""
    return f"{Path(user_frames[-1]['file']).name}:{user_frames[-1]['line']}: {user_frames[-1]['code'].strip()}"

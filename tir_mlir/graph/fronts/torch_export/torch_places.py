"""The line of the model that a node of an exported program comes from."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

_FRAME = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+), in \S+\n(?P<code>[^\n]*)')


def place(node: Any) -> str:
    """`model.py:12: y = torch.cdist(a, b)`, the innermost line outside torch; "" if there is none."""
    frames = list(_FRAME.finditer(node.meta.get("stack_trace") or ""))
    torch = Path(str(sys.modules["torch"].__file__)).parent
    frames = [f for f in frames if not f["file"].startswith("<eval_with_key>")]  # of graphs that torch made
    own = [f for f in frames if not Path(f["file"]).is_relative_to(torch)] or frames
    if not own:
        return ""
    return f"{Path(own[-1]['file']).name}:{own[-1]['line']}: {own[-1]['code'].strip()}"

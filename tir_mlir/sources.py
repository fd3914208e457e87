"""Where the sources of the package lie.

In a checkout `dialect/` and `passes/` lie next to `tir_mlir/`, which has links to them. Where git made no links, as by
default on Windows, `tir_mlir.dialect` is imported from there all the same.
"""

from __future__ import annotations

import os

PACKAGE = os.path.dirname(__file__)
_SIBLING_FOLDERS = [name for name in ("dialect", "passes") if not os.path.isdir(os.path.join(PACKAGE, name))]


def path(name: str) -> str:
    """The path of a file or folder of the package, "passes/lower"."""
    is_beside = name.partition("/")[0] in _SIBLING_FOLDERS
    return os.path.join(os.path.dirname(PACKAGE) if is_beside else PACKAGE, name)


FOLDERS = [PACKAGE, *map(path, _SIBLING_FOLDERS)]
"""The folders with all sources."""
SEARCHED = [PACKAGE, *({os.path.dirname(PACKAGE)} if _SIBLING_FOLDERS else ())]
"""Where the modules of the package are looked up."""

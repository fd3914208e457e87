"""The innermost frame of user code."""

from __future__ import annotations

import sys
from types import FrameType

_PACKAGE = __name__.partition(".")[0]


def user_frame(*packages: str) -> FrameType | None:
    """The innermost running frame outside the packages `packages`, by default this whole package."""
    prefixes = tuple(f"{package}." for package in packages or (_PACKAGE,))
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _is_inside(frame, prefixes):
        frame = frame.f_back
    return frame


def user_line() -> tuple[str, int] | None:
    """File and line of the innermost caller outside this package."""
    frame = user_frame()
    return None if frame is None else (frame.f_code.co_filename, frame.f_lineno)


def _is_inside(frame: FrameType, packages: tuple[str, ...]) -> bool:
    module = str(frame.f_globals.get("__name__", ""))
    return f"{module}.".startswith(packages) or frame.f_code.co_filename.startswith("<frozen")

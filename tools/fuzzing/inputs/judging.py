"""Accepted outcomes of an input: a result, or an error that the package raises on purpose."""

from __future__ import annotations

import linecache
import re
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fuzzing.kinds import Fault
from tir_mlir import extensions, sources
from tir_mlir.dialect.diagnostics import TirError

USER = "<fuzz"  # source files of made-up users: errors in their own lines are theirs
_PACKAGE = tuple(sources.FOLDERS)
_HERE = str(Path(__file__).resolve().parent)
_PLAIN = (TypeError, ValueError, IndexError, KeyError, AttributeError, NotImplementedError, ZeroDivisionError)
_RAISE = re.compile(r"\s*raise\b")
_INSIDE = re.compile(
    r"internal error|Traceback|std::bad_|nanobind|_mlir_libs|tir_mlir[\w.]* object at 0x|UNREACHABLE|Assertion"
)

Result = tuple[str, Any]


def tried(shown: str, work: Callable[[], Any]) -> Result:
    """Return ("accepted", result) or ("refused", error). Errors: Fault for an error that was not raised on purpose."""
    try:
        return "accepted", work()
    except Fault:
        raise
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException as error:
        if not on_purpose(error):
            raise Fault(f"{described(error)}\n{shown}") from error
        if not str(error).strip() or _INSIDE.search(str(error)):
            raise Fault(f"an error that is not meant for users: {described(error)}\n{shown}") from error
        return "refused", error


def on_purpose(error: BaseException) -> bool:
    """Return whether an error is a refusal: an error class of the package, or a built-in one from a `raise` in it or
    from the user's own lines."""
    if getattr(error, "unexpected", False) and error.__cause__ is not None:
        return on_purpose(error.__cause__)
    if isinstance(error, TirError):
        return True
    if type(error) is TypeError and "got an unexpected keyword argument" in str(error):
        return True  # Python names the culprit
    # a call through an extension point: Python names the culprit as if the caller had called the implementation
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename != extensions.__file__]
    if not isinstance(error, Exception) or isinstance(error, (RecursionError, MemoryError)) or not frames:
        return False
    file, number = frames[-1].filename, frames[-1].lineno or 0
    if file.startswith((USER, _HERE)):
        return True
    return (
        isinstance(error, _PLAIN) and file.startswith(_PACKAGE) and bool(_RAISE.match(linecache.getline(file, number)))
    )


def described(error: BaseException) -> str:
    """Format an error with its last frames."""
    frames = traceback.extract_tb(error.__traceback__)[-4:]
    places = [f"{Path(f.filename).name}:{f.lineno} {f.name}" for f in frames]
    return f"{type(error).__name__}: {str(error)[:400]} ({' <- '.join(reversed(places))})"


def short(text: str, most: int = 6000) -> str:
    """Truncate a text for a message."""
    return text if len(text) <= most else f"{text[:most]}... ({len(text)} characters)"


def seen(value: object, most: int = 300) -> str:
    """Format any value for a message."""
    try:
        return repr(value)[:most]
    except (RecursionError, TypeError, ValueError, IndexError, UnicodeError):
        return f"<{type(value).__name__}>"

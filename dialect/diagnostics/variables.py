"""The environment variables of the package: the only module that reads them, and refuses what they do not mean.

A variable that is empty counts as not set. `docs/reference/environment.md` lists all of them.
"""

from __future__ import annotations

import math
import os

from tir_mlir.dialect.diagnostics.errors import BuildError
from tir_mlir.dialect.diagnostics.user_values import short_repr


def text(name: str) -> str:
    """The value of a variable; "" without."""
    return os.environ.get(name, "")


def mebibytes(name: str, default: float, zero: str) -> int:
    """A size in bytes, of a variable in MiB. `zero`: what 0 does, for the message. Raises BuildError."""
    setting = text(name)
    try:
        size = float(setting or default)
    except ValueError:
        size = math.nan
    if not (0 <= size < math.inf):
        raise _refusal(name, f"a number of MiB that is not negative; 0 {zero}")
    return int(size * 2**20)


def count(name: str, what: str) -> int | None:
    """A positive integer; None if the variable is not set. `what`: what it counts, for the message. Raises
    BuildError."""
    setting = text(name)
    if not setting:
        return None
    if not (setting.isascii() and setting.isdecimal() and 0 < len(setting) < 10 and int(setting)):
        raise _refusal(name, what)
    return int(setting)


def flag(name: str, default: bool) -> bool:
    """0 or 1. Raises BuildError."""
    setting = text(name)
    if setting not in ("", "0", "1"):
        raise _refusal(name, "0 or 1")
    return setting == "1" if setting else default


def _refusal(name: str, expected: str) -> BuildError:
    return BuildError(f"{name}={short_repr(text(name))}: expected {expected}; fix: correct or unset the variable")

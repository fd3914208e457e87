"""Mistakes of learners: each program of `learners/` ends in an error, whose whole text stands beside it.

`make golden` writes the texts anew; git shows what changed.
"""

from __future__ import annotations

import linecache
from pathlib import Path

from tir_mlir.dialect.computation import intrinsics
from tir_mlir.dialect.diagnostics import TirError

FOLDER = Path(__file__).with_name("learners")


def names() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.py"))


def error_of(name: str) -> TirError:
    """The error of a program; its file is known by its name alone, wherever the checkout lies."""
    text = (FOLDER / f"{name}.py").read_text()
    filename = f"<{name}.py>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    known = dict(intrinsics._known)
    try:
        exec(compile(text, filename, "exec", dont_inherit=True), {"__name__": name})
    except TirError as error:
        return error
    finally:
        intrinsics._known.clear()
        intrinsics._known.update(known)
    raise ValueError(f"{FOLDER / name}.py raises nothing")


def shown(name: str) -> str:
    error = error_of(name)
    return f"{type(error).__name__}: {error}\n"


def main() -> None:
    for old in FOLDER.glob("*.txt"):
        old.unlink()
    for name in names():
        (FOLDER / f"{name}.txt").write_text(shown(name), encoding="utf-8")


if __name__ == "__main__":
    main()

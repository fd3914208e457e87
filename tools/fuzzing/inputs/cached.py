"""Corrupt the compile cache: a load returns what was saved, or nothing; builds compute right results."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from random import Random

import numpy as np

from fuzzing.inputs.judging import Fault, tried
from tir_mlir import build
from tir_mlir.runtime.cache import store
from tir_mlir.script.parser import parse

PROGRAM = """@T.prim_func
def main(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
    for i in range(16):
        with T.block("B"):
            v = T.axis.spatial(16, i)
            B[v] = A[v] * T.float32({})
"""
SIZES = ("512", "", "0", "-1", "x", "nan", "inf", "1e400", "0.001", "1 2", "١")


@contextmanager
def _folder(size: str = "512") -> Iterator[Path]:
    """Use a cache private to this process."""
    kept = {k: os.environ.get(k) for k in ("TIR_CACHE_DIR", "TIR_CACHE_SIZE")}
    os.environ["TIR_CACHE_DIR"], os.environ["TIR_CACHE_SIZE"] = str(_home()), size
    try:
        yield _home()
    finally:
        for key, value in kept.items():
            if value is None:
                os.environ.pop(key)
            else:
                os.environ[key] = value


@cache
def _home() -> Path:
    return Path(tempfile.mkdtemp(prefix="tir-fuzz-cache-"))


@cache
def _entries() -> dict[int, tuple[str, bytes]]:
    """Return the intact code file of each of two programs."""
    made = {}
    with _folder() as home:
        for factor in (2, 3):
            shutil.rmtree(home / "code", ignore_errors=True)
            _check(factor, "a build into an empty cache")
            (path,) = (home / "code").iterdir()
            made[factor] = path.name, path.read_bytes()
    return made


def _check(factor: int, shown: str) -> bool:
    """Build and run a program; return whether its code was in the cache."""
    lib = build(parse(PROGRAM.format(factor)))
    a, b = np.arange(16, dtype="float32"), np.zeros(16, "float32")
    lib(a, b)
    if b.tolist() != (a * factor).tolist():
        raise Fault(f"wrong result {b.tolist()} after: {shown}")
    return lib.timing.cached


def case(random: Random) -> str:
    """Damage one entry, then load it, or (rarely, because it is slow) build."""
    return _built(random) if random.random() < 0.08 else _loaded(random)


def _loaded(random: Random) -> str:
    size = random.choice(SIZES) if random.random() < 0.1 else "512"
    kind, name = random.choice(store.KINDS), f"name{random.randrange(3)}"
    data = bytes(random.randrange(256) for _ in range(random.choice((0, 1, 40))))
    with _folder(size) as home:
        path = home / kind / name
        shown = f"TIR_CACHE_SIZE={size!r}"
        word, _error = tried(shown, lambda: store.save(kind, name, data))
        if word != "accepted":
            return word
        if path.is_file():
            shown += ", " + _damaged(random, path, path.read_bytes(), b"tir_mlir x\nyz")
        word, found = tried(shown, lambda: store.load(kind, name))
        _mended(path)
    if found not in (None, data):
        raise Fault(f"loaded {found!r}, saved {data!r}, after: {shown}")
    return "refused" if found is None else "accepted"


def _built(random: Random) -> str:
    factor = random.choice((2, 3))
    name, data = _entries()[factor]
    with _folder() as home:
        path = home / "code" / name
        _mended(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        shown = _damaged(random, path, data, _entries()[5 - factor][1])
        word, cached = tried(shown, lambda: _check(factor, shown))
        _mended(path)
    if word != "accepted":
        raise Fault(f"build failed after: {shown}: {cached}")
    return "accepted" if cached else "refused"


def _damaged(random: Random, path: Path, data: bytes, other: bytes) -> str:
    """Damage an entry; return a description."""
    at = random.randrange(len(data)) if random.random() < 0.6 else random.randrange(min(80, len(data)))
    changed: bytes | None = None
    match random.randrange(13):
        case 0 | 1 | 2:
            changed, said = (
                data[:at] + bytes([data[at] ^ 1 << random.randrange(8)]) + data[at + 1 :],
                f"a bit of byte {at} is flipped",
            )
        case 3:
            changed, said = data[:at], f"cut at {at}"
        case 4:
            changed, said = b"", "empty"
        case 5:
            changed, said = other, "another's entry"
        case 6:
            changed, said = data + b"\0" * random.choice((1, 4096)), "zeros at the end"
        case 7:
            changed, said = data[:at] + data[at + 1 :], f"byte {at} is deleted"
        case 8:
            changed, said = data, "nothing"
        case 9:
            changed, said = bytes(len(data)), "zeros"
        case 10:
            _mended(path)
            path.mkdir()
            return "replaced by a folder"
        case 11:
            _mended(path)
            path.symlink_to(random.choice(("nowhere", path.name, "/dev/null", ".")))
            return "replaced by a link"
        case _:
            path.write_bytes(data)
            path.chmod(random.choice((0, 0o200, 0o777)))
            return "other permissions"
    path.write_bytes(changed)
    return said


def _mended(path: Path) -> None:
    if path.is_symlink() or path.is_file():
        path.unlink()
    elif path.is_dir():
        shutil.rmtree(path)

"""Texts kept between runs, by the content they were made from; an entry that is damaged is made again."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable, Sequence

from tir_mlir.runtime.toolchain import cache_folder

_MARK = "; tir_mlir "


def cached(kind: str, key: Sequence[str], make: Callable[[], str]) -> str:
    """The text `make()` gives for `key`, from the user's cache when it is there and whole."""
    digest = hashlib.sha256("\0".join([kind, *key]).encode()).hexdigest()
    path = cache_folder() / kind / digest[:32]
    try:
        head, _, text = path.read_text().partition("\n")
        if head == _MARK + _digest(text):
            return text
    except (OSError, UnicodeDecodeError):
        pass
    text = make()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False) as file:
            file.write(f"{_MARK}{_digest(text)}\n{text}")
        os.replace(file.name, path)  # atomic: another process sees the old entry or the whole new one
    except OSError:
        pass  # a cache that cannot be written is no reason to fail
    return text


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()

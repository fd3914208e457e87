"""Which programs of users were verified and are unchanged since, so that a schedule need not verify them again."""

from __future__ import annotations

import hashlib
import io
from weakref import WeakKeyDictionary

from mlir import ir

_verified: WeakKeyDictionary[ir.Module, bytes] = WeakKeyDictionary()


def remember(module: ir.Module) -> None:
    """Record that a module was verified as it is now."""
    _verified[module] = _fingerprint(module)


def is_verified(module: ir.Module) -> bool:
    """Whether a module was verified and nothing in it changed since then: users may edit it, and run passes on it."""
    known = _verified.get(module)
    return known is not None and known == _fingerprint(module)


def _fingerprint(module: ir.Module) -> bytes:
    """A digest of all that a module contains."""
    text = io.BytesIO()
    module.operation.write_bytecode(text)
    return hashlib.sha256(text.getbuffer()).digest()

"""Calling a compiled function: its C-interface address, its signature, the arguments packed."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tir_mlir.runtime import native, no_pickle
from tir_mlir.runtime.arrays import Packer
from tir_mlir.runtime.signature import Signature

PREFIX = "_mlir_ciface_"  # how the emit_c_interface lowering names the function that takes pointers to descriptors


@dataclass(frozen=True)
class Entries:
    """Where a function is: its C interface, and the one that takes its arguments as words (0: there is none)."""

    direct: int
    words: int = 0


class Function:
    """A compiled function. Call it with one array (or number) a parameter; results are written into the arrays."""

    def __init__(self, signature: Signature, entries: Entries, owner: object):
        self.signature = signature
        self.name = signature.name
        self._owner = owner  # the engine or library whose code this is
        self._packer = Packer(signature)
        self._call = ctypes.CFUNCTYPE(None, *self._packer.argtypes)(entries.direct)
        self._plans: native.Plans | None = None

    def __call__(self, *args: Any) -> None:
        packed = self._packer.pack(args)
        self._call(*packed.values)
        if self._plans is not None:
            self._plans.learn(packed)

    __reduce_ex__ = no_pickle.refuse

    def __repr__(self) -> str:
        return f"<compiled {self.signature}>"


def functions(
    signatures: Sequence[Signature], entries: dict[str, Entries], owner: object, always_release: bool
) -> dict[str, Any]:
    """A callable for each signature: an object that is like its Function, but called without Python, where there can be
    such. `always_release`: other Python threads run during every call, however short."""
    found = {}
    for s in signatures:
        function = Function(s, entries[s.name], owner)
        found[s.name] = native.callable_for(function, s, entries[s.name].words, always_release)
    return found

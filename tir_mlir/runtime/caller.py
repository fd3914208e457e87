"""Calling a compiled function: its C-interface address, its signature, the arguments packed."""

from __future__ import annotations

import ctypes
from typing import Any

from tir_mlir.runtime.arrays import Packer
from tir_mlir.runtime.signature import Signature

PREFIX = "_mlir_ciface_"  # how the emit_c_interface lowering names the function that takes pointers to descriptors


class Function:
    """A compiled function. Call it with one array (or number) a parameter; results are written into the arrays."""

    def __init__(self, signature: Signature, address: int, owner: object):
        self.signature = signature
        self.name = signature.name
        self._owner = owner  # the engine or library whose code this is
        self._packer = Packer(signature)
        self._call = ctypes.CFUNCTYPE(None, *self._packer.argtypes)(address)

    def __call__(self, *args: Any) -> None:
        values, _keep = self._packer.pack(args)
        self._call(*values)

    def __repr__(self) -> str:
        return f"<compiled {self.signature}>"

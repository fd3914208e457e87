"""Registers and operands: every register is an array over all threads; an operand becomes a function of the active
lanes."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn, TypeAlias

import numpy as np

from tir_mlir.ptx.parser import Kernel, PtxInstruction
from tir_mlir.ptx.types import DTYPES, SIGNED, UNSIGNED, integer, is_signed, number

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Lanes: TypeAlias = "slice | np.ndarray"
"""The active lanes: a slice or a sorted array of indices."""
Read: TypeAlias = Callable[[Lanes], np.ndarray]
Write: TypeAlias = "Callable[[Lanes, ArrayLike], None]"
Run: TypeAlias = Callable[..., None]
"""What an instruction does for the active lanes; one of control also gets its position."""

_UNSET = 0xFFD5FFD5FFD5FFD5
"""What a register holds before it is written: no number as a float, no address."""
_ADDRESS = re.compile(r"\[\s*([^\s+\]]+)\s*(?:\+\s*(-?\w+))?\s*\]$")


class RegisterFile:
    """The registers of all lanes, special registers and symbols."""

    def __init__(self, kernel: Kernel, lanes: int, special: dict[str, np.ndarray], symbols: dict[str, int]):
        self.lanes = lanes
        self.types = kernel.registers
        self.special = special
        self.symbols = symbols
        self.bits: dict[str, np.ndarray] = {}
        for name, type_ in kernel.registers.items():
            width = np.dtype(DTYPES[type_]).itemsize
            if type_ == "pred":
                self.bits[name] = np.zeros(lanes, np.bool_)
            else:
                self.bits[name] = np.full(lanes, _UNSET & ((1 << 8 * width) - 1), UNSIGNED[width])

    def unknown(self, text: str, ins: PtxInstruction) -> NoReturn:
        from tir_mlir.errors import PtxError

        raise PtxError(f"operand `{text}` of `{ins.text}` is not known", "instruction", ins.line, ins.source)

    def read(self, text: str, type_: str, ins: PtxInstruction) -> Read:
        """The values of an operand as a type: a register of the same width, or the low bits of a wider one."""
        dtype = np.dtype(DTYPES[type_])
        if text.startswith("!"):
            inner = self.read(text[1:].strip(), type_, ins)
            return lambda on: ~inner(on)
        if text in self.bits:
            return _low_bits_reader(self.bits[text], dtype, lambda: self.unknown(text, ins))
        if text in self.special:
            values = self.special[text]
            values = values.view(dtype) if values.itemsize == dtype.itemsize else values.astype(dtype)
        else:
            values = np.broadcast_to(self.constant(text, dtype, ins), (self.lanes,))
        return lambda on: values[on]

    def constant(self, text: str, dtype: np.dtype, ins: PtxInstruction) -> np.ndarray:
        """A literal or a symbol as an array of no dimensions."""
        width = np.dtype(dtype).itemsize
        symbol, _, offset = text.partition("+")
        if symbol in self.symbols:
            return np.array(self.symbols[symbol] + immediate(ins, offset.strip() or "0"), np.int64).astype(dtype)
        if text in ("true", "false"):
            return np.array(text == "true").astype(dtype)
        if text == "WARP_SZ":
            return np.array(32, dtype)
        try:
            value = number(text)
        except ValueError:
            self.unknown(text, ins)
        if isinstance(value, int):
            if np.dtype(dtype).kind == "f":
                return np.array(value, dtype)
            if np.dtype(dtype).kind == "b":
                return np.array(bool(value))
            return np.array(value & ((1 << 8 * width) - 1), UNSIGNED[width]).view(dtype)
        if not isinstance(value, np.floating):
            value = {4: np.float32, 8: np.float64}.get(width, np.float64)(value)
        bits = np.asarray(value)
        if np.dtype(dtype).kind == "f":
            return bits if bits.itemsize == width else bits.astype(dtype)
        return bits.view(UNSIGNED[bits.itemsize]).astype(UNSIGNED[width]).view(dtype)

    def write(self, text: str, type_: str, ins: PtxInstruction) -> Write:
        """Stores values of a type in a register; a wider register gets them extended by sign or zero."""
        if text == "_":
            return lambda on, v: None
        if text not in self.bits:
            self.unknown(text, ins)
        bits, dtype = self.bits[text], np.dtype(DTYPES[type_])
        if bits.itemsize == dtype.itemsize and (bits.dtype == np.bool_) == (dtype == np.bool_):
            target = bits.view(dtype)
        elif bits.itemsize > dtype.itemsize and bits.dtype != np.bool_ and dtype != np.bool_:
            target = bits.view(SIGNED[bits.itemsize]) if is_signed(type_) else bits
            if dtype.kind == "f":

                def put_bits(on: Lanes, v: ArrayLike) -> None:
                    target[on] = np.asarray(v, dtype).view(UNSIGNED[dtype.itemsize])

                return put_bits
        else:
            from tir_mlir.errors import PtxError

            have = self.types[text]
            raise PtxError(
                f"`{ins.text}` writes .{type_} to {text}, which is .{have}", "instruction", ins.line, ins.source
            )

        def put(on: Lanes, v: ArrayLike) -> None:
            target[on] = v

        return put

    def rows(self, text: str, type_: str, ins: PtxInstruction) -> np.ndarray:
        """A register of all lanes as a view of a type."""
        if text not in self.bits:
            self.unknown(text, ins)
        return self.bits[text].view(DTYPES[type_])

    def address(self, text: str, ins: PtxInstruction) -> Read:
        """The address `[base+offset]` as 64-bit integers."""
        match = _ADDRESS.match(text)
        if match is None:
            self.unknown(text, ins)
        base, offset = match.group(1), immediate(ins, match.group(2) or "0")
        if base in self.bits:
            bits = self.bits[base]
            if bits.itemsize == 8:
                wide = bits.view(np.int64)
                return (lambda on: wide[on] + offset) if offset else (lambda on: wide[on])
            return lambda on: bits[on].astype(np.int64) + offset
        if base in self.special:
            self.unknown(text, ins)
        values = np.broadcast_to(self.constant(base, np.dtype(np.int64), ins) + offset, (self.lanes,))
        return lambda on: values[on]


def immediate(ins: PtxInstruction, text: str) -> int:
    """An operand that has to be an integer literal."""
    from tir_mlir.errors import PtxError

    try:
        return integer(text)
    except ValueError:
        raise PtxError(
            f"`{text}` of `{ins.text}` has to be an integer literal", "instruction", ins.line, ins.source
        ) from None


def _low_bits_reader(bits: np.ndarray, dtype: np.dtype, unknown: Callable[[], NoReturn]) -> Read:
    """The low bits of a register as a type."""
    if (bits.dtype == np.bool_) != (dtype == np.bool_):
        unknown()
    if bits.itemsize == dtype.itemsize:
        values = bits.view(dtype)
        return lambda on: values[on]
    if bits.itemsize < dtype.itemsize:
        unknown()
    narrow = UNSIGNED[dtype.itemsize]
    return lambda on: bits[on].astype(narrow).view(dtype)


def vector(text: str) -> list[str]:
    """`{%r1, %r2}` -> its elements; one operand -> itself."""
    from tir_mlir.ptx.parser import split

    text = text.strip()
    return list(split(text[1:-1])) if text.startswith("{") else [text]

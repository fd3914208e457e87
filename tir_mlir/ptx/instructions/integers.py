"""Integer and logical instructions: what each computes, by NumPy functions on arrays of the active lanes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from tir_mlir.ptx.instructions.rows import InstructionRow, refuse, types_of, words
from tir_mlir.ptx.registers import Lanes, immediate
from tir_mlir.ptx.types import DTYPES, SIGNED, UNSIGNED, WIDER, size_of

if TYPE_CHECKING:
    from tir_mlir.ptx.instructions.rows import Compiler
    from tir_mlir.ptx.machine import Machine
    from tir_mlir.ptx.parser import PtxInstruction
    from tir_mlir.ptx.registers import Read, Run, Write

Function = Callable[..., np.ndarray]
FunctionOf: TypeAlias = "Callable[[PtxInstruction, str], Function]"
"""The function of an instruction, by the type of its operands."""
INTEGERS = frozenset("u16 s16 u32 s32 u64 s64".split())
BITS = frozenset("b16 b32 b64 pred".split())


def elementwise(function: FunctionOf, result: str = "", sources: tuple[str, ...] = ()) -> Compiler:
    """A compiler of `op.type d, a, b, ...`: `function(instruction, type)` of the operands. `result` and `sources`
    are types that differ from the one of the instruction."""

    def compile_(machine: Machine, ins: PtxInstruction) -> Run:
        type_ = types_of(ins)[-1]
        operation = function(ins, type_)
        put = machine.registers.write(ins.operands[0], result or type_, ins)
        kinds = [*sources, *[""] * len(ins.operands)]
        gets = [machine.registers.read(o, kinds[i] or type_, ins) for i, o in enumerate(ins.operands[1:])]
        return compose_operation(put, operation, gets)

    return compile_


def compose_operation(put: Write, operation: Function, gets: list[Read]) -> Callable[[Lanes], None]:
    """put(operation(gets)) for the active lanes, without a loop for up to three operands."""
    if len(gets) == 1:
        (a,) = gets
        return lambda on: put(on, operation(a(on)))
    if len(gets) == 2:
        a, b = gets
        return lambda on: put(on, operation(a(on), b(on)))
    if len(gets) == 3:
        a, b, c = gets
        return lambda on: put(on, operation(a(on), b(on), c(on)))
    return lambda on: put(on, operation(*(g(on) for g in gets)))


def fixed_operation(function: Function) -> Compiler:
    """A function that does not depend on modifiers."""
    return elementwise(lambda ins, type_: function)


def unsigned_bits(a: np.ndarray) -> np.ndarray:
    """The bits of integers."""
    return a.view(UNSIGNED[a.itemsize])


def divide(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Division that truncates; by zero all bits are set."""
    safe = np.where(b == 0, b.dtype.type(1), b)
    quotient = a // safe
    if a.dtype.kind == "i":
        quotient = quotient + ((quotient < 0) & (quotient * safe != a)).astype(a.dtype)
        quotient = np.where(safe == -1, -a, quotient)
    return np.where(b == 0, ~a.dtype.type(0), quotient)


def remainder(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The remainder of `divide`; by zero the dividend."""
    return np.where(b == 0, a, a - divide(a, b) * b)


def high_product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The upper half of the product."""
    width = a.itemsize
    if width < 8:
        wide = SIGNED[2 * width] if a.dtype.kind == "i" else UNSIGNED[2 * width]
        return ((a.astype(wide) * b.astype(wide)) >> wide(8 * width)).astype(a.dtype)
    x, y, half = unsigned_bits(a), unsigned_bits(b), np.uint64(32)
    mask = np.uint64(0xFFFFFFFF)
    low = (x & mask) * (y & mask)
    middle = (x >> half) * (y & mask) + (low >> half)
    two = (x & mask) * (y >> half) + (middle & mask)
    top = (x >> half) * (y >> half) + (middle >> half) + (two >> half)
    if a.dtype.kind == "i":
        top = top - np.where(a < 0, y, np.uint64(0)) - np.where(b < 0, x, np.uint64(0))
    return top.view(a.dtype)


def shift_left(a: np.ndarray, n: np.ndarray) -> np.ndarray:
    """By at least the width: 0."""
    bits = a.itemsize * 8
    return np.where(n >= bits, a.dtype.type(0), a << np.minimum(n, bits - 1).astype(a.dtype))


def shift_right(a: np.ndarray, n: np.ndarray) -> np.ndarray:
    """By at least the width: the sign, or 0."""
    bits = a.itemsize * 8
    shifted = a >> np.minimum(n, bits - 1).astype(a.dtype)
    return shifted if a.dtype.kind == "i" else np.where(n >= bits, a.dtype.type(0), shifted)


def _saturating(operation: Function, ins: PtxInstruction) -> Function:
    """`add.sat.s32`: clamped."""
    if "sat" not in ins.parts:
        return operation
    low, high = np.iinfo(np.int32).min, np.iinfo(np.int32).max
    return lambda a, b: np.clip(operation(a.astype(np.int64), b.astype(np.int64)), low, high).astype(np.int32)


def _wide(operation: Function) -> Compiler:
    """`mul` and `mad` with .lo, .hi, .wide (`operation` combines product and summand)."""

    def compile_(machine: Machine, ins: PtxInstruction) -> Run:
        type_ = types_of(ins)[-1]
        wide = "wide" in ins.parts
        target = WIDER[type_] if wide else type_
        put = machine.registers.write(ins.operands[0], target, ins)
        gets = [machine.registers.read(o, type_, ins) for o in ins.operands[1:3]]
        gets += [machine.registers.read(o, target, ins) for o in ins.operands[3:]]
        dtype = DTYPES[target]
        if wide:
            product: Function = lambda a, b: a.astype(dtype) * b.astype(dtype)  # noqa: E731
        elif "hi" in ins.parts:
            product = high_product
        elif "lo" in ins.parts:
            product = np.multiply
        else:
            refuse(ins, "this form")
        return compose_operation(put, lambda a, b, *c: operation(product(a, b), *c), gets)

    return compile_


def _mul24(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    eight = a.dtype.type(8)
    return ((a << eight) >> eight) * ((b << eight) >> eight)


def _carry(add: bool, use: bool) -> Compiler:
    """`add.cc`, `addc`, `sub.cc`, `subc`: with the carry register `%cc`."""

    def compile_(machine: Machine, ins: PtxInstruction) -> Run:
        type_ = types_of(ins)[-1].replace("s", "u").replace("b", "u")
        put = machine.registers.write(ins.operands[0], type_, ins)
        a, b = (machine.registers.read(o, type_, ins) for o in ins.operands[1:3])
        carry = machine.registers.bits.setdefault("%cc", np.zeros(machine.lanes, np.bool_))
        sets = "cc" in ins.parts

        def run(on: Lanes) -> None:
            x, y, c = a(on), b(on), carry[on] if use else False
            carry_in = np.asarray(c).astype(x.dtype)
            total = x + y + carry_in if add else x - y - carry_in
            if sets:
                carry[on] = (total < x) | ((total == x) & (y != 0)) if add else (x < y) | ((x == y) & c)
            put(on, total)

        return run

    return compile_


def _lop3(ins: PtxInstruction, type_: str) -> Function:
    """A function of three bits by its table of 8 results."""
    table = immediate(ins, ins.operands[4])

    def operation(a: np.ndarray, b: np.ndarray, c: np.ndarray, _: np.ndarray) -> np.ndarray:
        result = np.zeros_like(a)
        for i in range(8):
            if table >> i & 1:
                result |= (a if i & 4 else ~a) & (b if i & 2 else ~b) & (c if i & 1 else ~c)
        return result

    return operation


def _extract(ins: PtxInstruction, type_: str) -> Function:
    """`bfe`: a field of bits, extended by its sign for signed types."""
    bits = 8 * size_of(type_)

    def operation(a: np.ndarray, start: np.ndarray, length: np.ndarray) -> np.ndarray:
        start, length = start.astype(np.int64) & 255, length.astype(np.int64) & 255
        value = shift_right(unsigned_bits(a), start.astype(np.uint32))
        in_range = np.minimum(length, np.maximum(bits - start, 0))
        if a.dtype.kind == "u":
            return np.where(
                length >= bits, value, value & (shift_left(np.ones_like(value), in_range) - value.dtype.type(1))
            )
        top = np.minimum(start + length - 1, bits - 1)
        sign = shift_right(unsigned_bits(a), top.astype(np.uint32)) & value.dtype.type(1)
        mask = shift_left(np.ones_like(value), in_range) - value.dtype.type(1)
        filled = np.where(sign == 1, value | ~mask, value & mask)
        return np.where(length == 0, value.dtype.type(0), filled).view(a.dtype)

    return operation


def _insert(a: np.ndarray, b: np.ndarray, start: np.ndarray, length: np.ndarray) -> np.ndarray:
    """`bfi`: the low bits of a at a position of b."""
    start, length = start & np.uint32(255), length & np.uint32(255)
    mask = shift_left(shift_left(np.ones_like(a), length) - a.dtype.type(1), start)
    return (b & ~mask) | (shift_left(a, start) & mask)


def _funnel(ins: PtxInstruction, type_: str) -> Function:
    """`shf.l/r.wrap/clamp`: a shift of the pair b:a."""
    wrap, is_left = "wrap" in ins.parts, "l" in ins.parts

    def operation(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
        pair = b.astype(np.uint64) << np.uint64(32) | a
        n = (c & np.uint32(31) if wrap else np.minimum(c, np.uint32(32))).astype(np.uint64)
        shifted = pair << n >> np.uint64(32) if is_left else pair >> n
        return shifted.astype(np.uint32)

    return operation


def popcount(a: np.ndarray) -> np.ndarray:
    bits = np.unpackbits(np.ascontiguousarray(a).view(np.uint8).reshape(len(a), -1), axis=1)
    return bits.sum(1).astype(np.uint32)


def leading_zeros(a: np.ndarray) -> np.ndarray:
    """Zeros above the highest set bit."""
    bits = 8 * a.itemsize
    unpacked = np.unpackbits(np.ascontiguousarray(a).view(np.uint8).reshape(len(a), -1)[:, ::-1], axis=1)
    return np.where(a == 0, bits, unpacked.argmax(1)).astype(np.uint32)


def reverse(a: np.ndarray) -> np.ndarray:
    """The bits in the opposite order."""
    raw = np.ascontiguousarray(a).view(np.uint8).reshape(len(a), -1)
    return np.packbits(np.unpackbits(raw[:, ::-1], axis=1)[:, ::-1], axis=1)[:, ::-1].copy().view(a.dtype)[:, 0]


def _highest(ins: PtxInstruction, type_: str) -> Function:
    """`bfind`: the position of the highest bit that differs from the sign; none: all ones."""

    def operation(a: np.ndarray) -> np.ndarray:
        bits = unsigned_bits(np.where(a < 0, ~a, a)) if a.dtype.kind == "i" else a
        zeros = leading_zeros(bits)
        width = np.uint32(8 * a.itemsize)
        position = zeros if "shiftamt" in ins.parts else width - np.uint32(1) - zeros
        return np.where(bits == 0, np.uint32(0xFFFFFFFF), position)

    return operation


def _permute(ins: PtxInstruction, type_: str) -> Function:
    """`prmt`: bytes of the pair b:a chosen by the digits of c; digit + 8 repeats the sign."""
    if set(ins.parts) & set("f4e b4e rc8 ecl ecr rc16".split()):
        refuse(ins, "this mode")

    def operation(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
        pair = b.astype(np.uint64) << np.uint64(32) | a
        result = np.zeros_like(a)
        for i in range(4):
            digit = c >> np.uint32(4 * i)
            byte = (pair >> ((digit & np.uint32(7)) * np.uint32(8)).astype(np.uint64)).astype(np.uint32) & np.uint32(
                255
            )
            sign = np.where(byte & np.uint32(128), np.uint32(255), np.uint32(0))
            result |= np.where(digit & np.uint32(8), sign, byte) << np.uint32(8 * i)
        return result

    return operation


def _dot(bytes_: int) -> Compiler:
    """`dp4a`, `dp2a`: a dot product of small integers, added to c."""

    def compile_(machine: Machine, ins: PtxInstruction) -> Run:
        kinds = types_of(ins)
        types = [np.int8 if k == "s32" else np.uint8 for k in kinds]
        put = machine.registers.write(ins.operands[0], "s32", ins)
        gets = [machine.registers.read(o, "u32", ins) for o in ins.operands[1:]]
        high = "hi" in ins.parts

        def operation(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
            wide = types[0] if bytes_ == 4 else (np.int16 if kinds[0] == "s32" else np.uint16)
            x = np.ascontiguousarray(a).view(wide).reshape(len(a), -1).astype(np.int64)
            y = np.ascontiguousarray(b).view(types[1]).reshape(len(b), -1).astype(np.int64)
            if bytes_ == 2:
                y = y[:, 2:] if high else y[:, :2]
            return (c.view(np.int32).astype(np.int64) + (x * y).sum(1)).astype(np.int32)

        return compose_operation(put, operation, gets)

    return compile_


def _by_signedness(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    return c + np.where(a > b, a - b, b - a)


INTEGER_ROWS = {
    "mad": InstructionRow(_wide(lambda p, c: p + c), words("lo hi wide"), INTEGERS),
    "mul24": InstructionRow(fixed_operation(_mul24), words("lo"), INTEGERS),
    "mad24": InstructionRow(fixed_operation(lambda a, b, c: _mul24(a, b) + c), words("lo"), INTEGERS),
    "rem": InstructionRow(fixed_operation(remainder), frozenset(), INTEGERS),
    "sad": InstructionRow(fixed_operation(_by_signedness), frozenset(), INTEGERS),
    "addc": InstructionRow(_carry(True, True), words("cc"), INTEGERS),
    "subc": InstructionRow(_carry(False, True), words("cc"), INTEGERS),
    "and": InstructionRow(fixed_operation(np.bitwise_and), frozenset(), BITS),
    "or": InstructionRow(fixed_operation(np.bitwise_or), frozenset(), BITS),
    "xor": InstructionRow(fixed_operation(np.bitwise_xor), frozenset(), BITS),
    "not": InstructionRow(fixed_operation(np.invert), frozenset(), BITS),
    "cnot": InstructionRow(fixed_operation(lambda a: (a == 0).astype(a.dtype)), frozenset(), BITS),
    "shl": InstructionRow(elementwise(lambda i, t: shift_left, sources=("", "u32")), frozenset(), BITS),
    "shr": InstructionRow(elementwise(lambda i, t: shift_right, sources=("", "u32")), frozenset(), BITS | INTEGERS),
    "shf": InstructionRow(elementwise(_funnel), words("l r wrap clamp"), words("b32")),
    "lop3": InstructionRow(elementwise(_lop3), frozenset(), words("b32")),
    "bfe": InstructionRow(elementwise(_extract, sources=("", "u32", "u32")), frozenset(), INTEGERS),
    "bfi": InstructionRow(elementwise(lambda i, t: _insert, sources=("", "", "u32", "u32")), frozenset(), BITS),
    "bfind": InstructionRow(elementwise(_highest, result="u32"), words("shiftamt"), INTEGERS),
    "brev": InstructionRow(fixed_operation(reverse), frozenset(), BITS),
    "popc": InstructionRow(elementwise(lambda i, t: popcount, result="u32"), frozenset(), BITS),
    "clz": InstructionRow(elementwise(lambda i, t: leading_zeros, result="u32"), frozenset(), BITS),
    "prmt": InstructionRow(elementwise(_permute), words("f4e b4e rc8 ecl ecr rc16"), words("b32")),
    "dp4a": InstructionRow(_dot(4), frozenset(), words("u32 s32")),
    "dp2a": InstructionRow(_dot(2), words("lo hi"), words("u32 s32")),
}

"""`mov`, `cvt`, `cvta`: copies, packing and conversions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tir_mlir.ptx import floats
from tir_mlir.ptx.instructions.rows import InstructionRow, refuse, types_of, words
from tir_mlir.ptx.memory import WINDOWS
from tir_mlir.ptx.registers import Lanes, vector
from tir_mlir.ptx.types import DTYPES, is_float, size_of

if TYPE_CHECKING:
    from tir_mlir.ptx.machine import Machine
    from tir_mlir.ptx.parser import PtxInstruction
    from tir_mlir.ptx.registers import Run

_INTEGRAL = words("rni rzi rmi rpi")


def _mov(machine: Machine, ins: PtxInstruction) -> Run:
    """A copy; `{a, b}` packs or unpacks parts, the first being the lowest."""
    type_ = types_of(ins)[-1]
    target, source = ins.operands
    registers = machine.registers
    if source.startswith("{"):
        parts = vector(source)
        part = f"b{8 * size_of(type_) // len(parts)}"
        gets = [registers.read(p, part, ins) for p in parts]
        put = registers.write(target, type_, ins)
        dtype = DTYPES[type_]
        return lambda on: put(on, np.ascontiguousarray(np.stack([g(on) for g in gets], 1)).view(dtype)[:, 0])
    if target.startswith("{"):
        parts = vector(target)
        part = f"b{8 * size_of(type_) // len(parts)}"
        puts = [registers.write(p, part, ins) for p in parts]
        get, dtype = registers.read(source, type_, ins), DTYPES[part]

        def unpack(on: Lanes) -> None:
            values = np.ascontiguousarray(get(on)).view(dtype).reshape(-1, len(parts)).copy()
            for k, put_part in enumerate(puts):
                put_part(on, values[:, k])

        return unpack
    put, get = registers.write(target, type_, ins), registers.read(source, type_, ins)
    return lambda on: put(on, get(on))


def integer_to_float(values: np.ndarray, dtype: np.dtype, mode: str) -> np.ndarray:
    """Integers -> floats with one rounding. 64-bit integers do not fit f64: their low bits become one sticky bit."""
    if values.itemsize < 8 or (dtype == np.float64 and mode == "rn"):
        return (
            floats.round_to_type(values.astype(np.float64), dtype, mode)
            if dtype != np.float64
            else values.astype(dtype)
        )
    if mode == "rn" and dtype == np.float32:
        return values.astype(dtype)
    return floats.round_to_type(odd_doubles(values), dtype, mode)


def odd_doubles(values: np.ndarray) -> np.ndarray:
    """Integers as f64, those of more than 53 bits rounded to odd."""
    near = values.astype(np.float64)
    if values.itemsize < 8:
        return near
    back = near.astype(object)
    error = np.array([int(v) - int(b) for v, b in zip(values.tolist(), back, strict=False)], np.float64)
    return floats.odd_sum(near, error)


def float_to_integer(values: np.ndarray, dtype: np.dtype, mode: str) -> np.ndarray:
    """Floats -> integers, clamped to the range; a NaN becomes 0 (64-bit: the sign bit)."""
    integral_values = floats.round_integral(values.astype(np.float64), mode)
    info = np.iinfo(dtype.name)
    in_range = (integral_values >= float(info.min)) & (
        integral_values < float(info.max) + (1 if dtype.itemsize < 8 else 0)
    )
    result = np.where(in_range, integral_values, 0).astype(dtype)
    result = np.where(integral_values >= float(info.max), dtype.type(info.max), result)
    result = np.where(integral_values < float(info.min), dtype.type(info.min), result)
    nan = dtype.type(0) if dtype.itemsize < 8 else np.array(1 << 63, np.uint64).astype(dtype)
    return np.where(np.isnan(integral_values), nan, result)


def _values(type_: str, bits: np.ndarray) -> np.ndarray:
    """Register contents -> numbers."""
    return floats.from_bf16(bits) if type_ == "bf16" else bits.view(np.float32) if type_ == "tf32" else bits


def to_float(values: np.ndarray, type_: str, mode: str) -> np.ndarray:
    """f64 values -> the bits or values of a float type."""
    if type_ in ("f16", "f32", "f64"):
        dtype = np.dtype(DTYPES[type_])
        return values if type_ == "f64" else floats.round_to_type(values, dtype, mode)
    single = floats.round_to_type(values, np.dtype(np.float32), "odd")
    bits = single.view(np.uint32)
    drop = np.uint32(16 if type_ == "bf16" else 13)
    mask = np.uint32((1 << int(drop)) - 1)
    if mode == "rz":
        rounded_bits = bits & ~mask
    elif mode == "rna":
        rounded_bits = (bits + np.uint32(1 << (int(drop) - 1))) & ~mask
    else:
        rounded_bits = (bits + np.uint32((1 << (int(drop) - 1)) - 1) + ((bits >> drop) & np.uint32(1))) & ~mask
    rounded_bits = np.where(np.isnan(values), np.uint32(0x7FFF0000), np.where(np.isinf(values), bits, rounded_bits))
    return (rounded_bits >> np.uint32(16)).astype(np.uint16) if type_ == "bf16" else rounded_bits


def _cvt(machine: Machine, ins: PtxInstruction) -> Run:
    types = types_of(ins)
    if types[0] in ("f16x2", "bf16x2"):
        return _packed_conversion(machine, ins, types[0][:-2])
    to, source = types
    if {to, source} & {"e4m3x2", "e5m2x2"}:
        refuse(ins, "8-bit floats")
    put, get = machine.registers.write(ins.operands[0], to, ins), machine.registers.read(ins.operands[1], source, ins)
    return lambda on: put(on, _convert(get(on), to, source, ins.parts))


def _convert(bits: np.ndarray, to: str, source: str, parts: tuple[str, ...]) -> np.ndarray:
    """One value each of a type to another type."""
    values = _values(source, bits)
    if "ftz" in parts and source == "f32":
        values = floats.flush_subnormals(values)
    integral = next((p for p in parts if p in _INTEGRAL), None)
    mode = next((p for p in parts if p in ("rz", "rm", "rp", "rna")), "rn")
    if is_float(to):
        if not is_float(source):
            if to in ("bf16", "tf32"):
                return to_float(odd_doubles(values), to, mode)
            result = integer_to_float(values, np.dtype(DTYPES[to]), mode)
        else:
            if integral and to == source:
                values = floats.round_integral(values, integral)
            if source == to:
                result = bits if not integral and to == "bf16" else values
            else:
                result = to_float(values.astype(np.float64), to, mode)
        if "ftz" in parts and to == "f32":
            result = floats.flush_subnormals(result)
        if "relu" in parts:
            real = _values(to, result)
            result = np.where(real < 0, result.dtype.type(0), result)
        return floats.saturate(result) if "sat" in parts else result
    dtype = np.dtype(DTYPES[to])
    if is_float(source):
        return float_to_integer(values, dtype, integral or "rzi")
    if "sat" in parts:
        info = np.iinfo(dtype.name)
        return np.array([min(max(int(v), info.min), info.max) for v in values.tolist()], dtype)
    return values.astype(dtype)


def _packed_conversion(machine: Machine, ins: PtxInstruction, half: str) -> Run:
    """`cvt.rn.f16x2.f32 d, a, b`: a in the upper half, b in the lower one."""
    put = machine.registers.write(ins.operands[0], "b32", ins)
    high, low = (machine.registers.read(o, "f32", ins) for o in ins.operands[1:3])

    def run(on: Lanes) -> None:
        halves = [_convert(g(on), half, "f32", ins.parts) for g in (low, high)]
        put(on, np.ascontiguousarray(np.stack(halves, 1)).view(np.uint32)[:, 0])

    return run


def _cvta(machine: Machine, ins: PtxInstruction) -> Run:
    """Addresses of one memory to generic ones, and back with `.to`."""
    type_ = types_of(ins)[-1]
    space = next((p.split("::")[0] for p in ins.parts if p.split("::")[0] in WINDOWS), None)
    window = 0 if space in ("global", "param", "const") else WINDOWS.get(space or "", 0)
    offset = np.dtype(DTYPES[type_]).type(-window & 0xFFFFFFFFFFFFFFFF if "to" in ins.parts else window)
    put, get = machine.registers.write(ins.operands[0], type_, ins), machine.registers.read(ins.operands[1], type_, ins)
    return lambda on: put(on, get(on) + offset)


CONVERSION_ROWS = {
    "mov": InstructionRow(_mov),
    "cvt": InstructionRow(_cvt, _INTEGRAL | words("rn rz rm rp rna ftz sat relu satfinite pack")),
    "cvta": InstructionRow(
        _cvta, words("to shared global local const param shared::cta shared::cluster"), words("u64 u32")
    ),
}

"""Firmware on emulated CPUs without an operating system: compiled by zig, run by unicorn."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from tir_mlir.runtime.tools import toolchain

FLAGS = ("-std=c99", "-ffreestanding", "-fno-unwind-tables", "-fno-asynchronous-unwind-tables", "-fno-sanitize=all",
         "-Wall", "-Wextra", "-Werror")  # fmt: skip
_STACK, _STACK_BYTES, _RETURN = 0x7000_0000, 1 << 16, 0x7100_0000


@dataclass(frozen=True)
class Cpu:
    """A CPU: zig's words for it; whether it needs functions for floats, which zig compiles first."""

    target: str
    options: tuple[str, ...]
    machine: str
    soft_floats: bool = False


CPUS = {
    "rv64gc": Cpu("riscv64-freestanding-none", ("-mcpu=baseline_rv64",), "riscv64"),
    "rv64imac": Cpu("riscv64-freestanding-none", ("-mcpu=generic_rv64+m+a+c", "-mabi=lp64"), "riscv64", True),
    "rv32imac": Cpu("riscv32-freestanding-none", ("-mcpu=generic_rv32+m+a+c", "-mabi=ilp32"), "riscv32", True),
    "cortex-m4": Cpu("thumb-freestanding-eabi", ("-mcpu=cortex_m4",), "thumb", True),
}


def compile_firmware(folder: Path, cpu: Cpu) -> Path:
    """The program of all C files of a folder; it begins at `main`. Skips the test without the compiler."""
    try:
        toolchain.find("zig")
    except toolchain.MissingTool:
        pytest.skip("needs a C compiler for other CPUs: pip install ziglang")
    words = ["cc", "-target", cpu.target, *cpu.options, "-O1", *FLAGS]
    elf = folder / "firmware.elf"
    sources = sorted(map(str, folder.glob("*.c")))
    if cpu.soft_floats:
        toolchain.run("zig", [*words, *sources, "-Wl,-e,main", "-o", str(elf)])
        return elf
    objects = []
    for source in sources:
        objects.append(source.removesuffix(".c") + ".o")
        toolchain.run("zig", [*words, "-c", source, "-o", objects[-1]])
    toolchain.run("zig", ["ld.lld", *objects, "-e", "main", "-o", str(elf)])
    return elf


def run_firmware(elf: Path, cpu: Cpu, inputs: Mapping[str, np.ndarray], outputs: Mapping[str, np.ndarray]) -> None:
    """Write arrays to symbols, run `main` until it returns, and read arrays from symbols. Skips without unicorn."""
    unicorn = pytest.importorskip("unicorn", reason="needs unicorn: pip install unicorn")
    data = elf.read_bytes()
    segments, symbols, entry = read_elf(data)
    emulator, stack, link = _emulator(unicorn, cpu.machine)
    pages: set[int] = set()
    for address, size, _, _ in segments:
        pages |= set(range(address & ~0xFFF, address + size, 0x1000))
    for page in sorted(pages):
        emulator.mem_map(page, 0x1000)
    for address, _, offset, length in segments:
        emulator.mem_write(address, data[offset : offset + length])
    emulator.mem_map(_STACK, _STACK_BYTES)
    emulator.mem_map(_RETURN, 0x1000)
    for name, array in inputs.items():
        emulator.mem_write(symbols[name], array.tobytes())
    emulator.reg_write(stack, _STACK + _STACK_BYTES - 64)
    emulator.reg_write(link, _RETURN | (cpu.machine == "thumb"))
    emulator.emu_start(entry, _RETURN, timeout=60_000_000)
    for name, array in outputs.items():
        read = np.frombuffer(bytes(emulator.mem_read(symbols[name], array.nbytes)), array.dtype)
        array[...] = read.reshape(array.shape)


def _emulator(unicorn, machine: str):
    """An emulator, and its registers of the stack and of the return address."""
    if machine == "thumb":
        made = unicorn.Uc(unicorn.UC_ARCH_ARM, unicorn.UC_MODE_THUMB | unicorn.UC_MODE_MCLASS)
        return made, unicorn.arm_const.UC_ARM_REG_SP, unicorn.arm_const.UC_ARM_REG_LR
    mode = unicorn.UC_MODE_RISCV64 if machine == "riscv64" else unicorn.UC_MODE_RISCV32
    made = unicorn.Uc(unicorn.UC_ARCH_RISCV, mode)
    status = unicorn.riscv_const.UC_RISCV_REG_MSTATUS
    made.reg_write(status, made.reg_read(status) | 0x6000)  # floats may be used
    return made, unicorn.riscv_const.UC_RISCV_REG_SP, unicorn.riscv_const.UC_RISCV_REG_RA


def read_elf(data: bytes) -> tuple[list[tuple[int, int, int, int]], dict[str, int], int]:
    """The segments of an ELF program (address, bytes in memory, offset, bytes in the file), its symbols, its entry."""
    wide = data[4] == 2
    header = struct.unpack_from("<HHIQQQIHHHHHH" if wide else "<HHIIIIIHHHHHH", data, 16)
    entry, programs, sections = header[3:6]
    segments = []
    for number in range(header[9]):
        at = programs + number * header[8]
        if wide:
            kind, _, offset, address, _, length, size, _ = struct.unpack_from("<IIQQQQQQ", data, at)
        else:
            kind, offset, address, _, length, size, _, _ = struct.unpack_from("<IIIIIIII", data, at)
        if kind == 1 and size:
            segments.append((address, size, offset, length))
    form = "<IIQQQQIIQQ" if wide else "<IIIIIIIIII"
    listed = [struct.unpack_from(form, data, sections + n * header[10]) for n in range(header[11])]
    symbols: dict[str, int] = {}
    for section in listed:
        if section[1] != 2:
            continue
        names = listed[section[6]][4]
        for at in range(section[4], section[4] + section[5], section[9]):
            name, value = (struct.unpack_from("<I4xQ" if wide else "<II", data, at))[:2]
            end = data.index(b"\0", names + name)
            symbols[data[names + name : end].decode()] = value
    return segments, symbols, entry

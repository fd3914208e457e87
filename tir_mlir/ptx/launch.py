"""Launches a kernel of a PTX text: arguments into memory, blocks in batches, results back into the arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tir_mlir.errors import PtxError
from tir_mlir.ptx.machine import Machine
from tir_mlir.ptx.memory import GAP, WINDOWS, Region
from tir_mlir.ptx.parser import Kernel, Module, parse
from tir_mlir.ptx.report import Report
from tir_mlir.ptx.types import DTYPES

STEPS = 20_000_000
"""Branches and waits after which a launch is taken to be endless."""


def launch(
    module: Module | str,
    kernel: str,
    grid: Sequence[int],
    block: Sequence[int],
    args: Sequence[Any],
    shared_bytes: int = 0,
    lines: Mapping[int, str] | None = None,
    unwritten: Sequence[int] = (),
) -> Report:
    """Run a kernel on the PTX machine; arrays of `args` are changed in place.

    `shared_bytes`: dynamic shared memory. `lines`: PTX line -> a text about its source, which errors cite instead of
    `.loc`. `unwritten`: positions of array arguments whose contents the kernel may not read before it writes them.
    Raises PtxError on a race, a missing or divergent barrier, a deadlock, a read of what nobody wrote, an access
    outside of the arguments or misaligned, an instruction that is not known; the arrays are then unchanged.
    """
    if isinstance(module, str):
        module = parse(module)
    if kernel not in module.kernels:
        raise PtxError(f"no kernel {kernel}; the text has {', '.join(module.kernels)}", "launch")
    entry = module.kernels[kernel]
    grid3, block3 = _three(grid, "grid"), _three(block, "block")
    _check_launch(entry, block3, args)
    regions, data, written, addresses = _memory(entry, args, unwritten)
    parameters = _parameters(entry, args, addresses)
    try:
        machine = Machine(
            entry,
            grid3,
            block3,
            range(grid3[0] * grid3[1] * grid3[2]),
            (regions, data, written),
            parameters,
            shared_bytes,
            STEPS,
        )
        report = machine.run()
    except PtxError as error:
        raise _cited(error, lines) from None
    memory = machine.spaces["global"].data
    for argument, address in zip(args, addresses):
        if isinstance(argument, np.ndarray) and address is not None:
            start = address - WINDOWS["global"]
            raw = memory[start : start + argument.nbytes].view(argument.dtype)
            argument[...] = raw.reshape(argument.shape)
    return report


def _three(sizes: Sequence[int], what: str) -> tuple[int, int, int]:
    """(4,) -> (4, 1, 1)."""
    x, y, z = ([int(s) for s in sizes] + [1, 1, 1])[:3]
    if min(x, y, z) < 1 or len(sizes) > 3:
        raise PtxError(f"the {what} {tuple(sizes)} has to be one to three positive sizes", "launch")
    return x, y, z


def _check_launch(kernel: Kernel, block: tuple[int, int, int], args: Sequence[Any]) -> None:
    """Refuse another block size than the kernel was compiled for, and a wrong number of arguments."""
    threads = block[0] * block[1] * block[2]
    if kernel.block is not None:
        most = kernel.block[0] * kernel.block[1] * kernel.block[2]
        if kernel.exact_block and block != kernel.block or threads > most:
            raise PtxError(f"kernel {kernel.name} is compiled for blocks of {kernel.block}, not of {block}", "launch")
    if threads > 1024:
        raise PtxError(f"a block has at most 1024 threads, not {threads}", "launch")
    if len(args) != len(kernel.parameters):
        raise PtxError(f"kernel {kernel.name} has {len(kernel.parameters)} parameters, not {len(args)}", "launch")


def _memory(
    kernel: Kernel, args: Sequence[Any], unwritten: Sequence[int]
) -> tuple[list[Region], np.ndarray, list[tuple[int, int]], list[int | None]]:
    """Global memory: its regions, bytes, the parts that are written, and the address of each array argument."""
    regions: list[Region] = []
    contents: list[tuple[int, np.ndarray]] = []
    written: list[tuple[int, int]] = []
    addresses: list[int | None] = []
    at = GAP

    def place(name: str, raw: np.ndarray, is_written: bool) -> int:
        nonlocal at
        start = at
        regions.append(Region(start, start + raw.nbytes, name))
        contents.append((start, raw))
        if is_written:
            written.append((start, start + raw.nbytes))
        at += -(-raw.nbytes // GAP) * GAP + GAP
        return start + WINDOWS["global"]

    for i, (argument, parameter) in enumerate(zip(args, kernel.parameters)):
        address = None
        if isinstance(argument, np.ndarray):
            raw = np.ascontiguousarray(argument).reshape(-1).view(np.uint8)
            address = place(parameter.name, raw, i not in unwritten)
        addresses.append(address)
    for v in kernel.variables.values():
        if v.space in ("global", "const"):
            place(v.name, np.frombuffer(v.data or bytes(v.bytes), np.uint8), True)
    data = np.zeros(at, np.uint8)
    for start, raw in contents:
        data[start : start + raw.nbytes] = raw
    return regions, data, written, addresses


def _parameters(kernel: Kernel, args: Sequence[Any], addresses: Sequence[int | None]) -> bytes:
    """The bytes of the kernel's parameters."""
    memory = bytearray()
    for argument, address, p in zip(args, addresses, kernel.parameters):
        memory += bytes(-len(memory) % p.alignment)
        if address is not None:
            value = np.array(address, np.uint64).tobytes()
        elif isinstance(argument, bytes | bytearray):
            value = bytes(argument)
        elif p.type == "bf16":
            raise PtxError(f"parameter {p.name}: pass bf16 as its bits", "launch")
        else:
            value = np.array(argument).astype(DTYPES[p.type]).tobytes()
        if len(value) != p.bytes:
            raise PtxError(
                f"parameter {p.name} of {kernel.name} has {p.bytes} bytes, its argument {len(value)}", "launch"
            )
        memory += value
    return bytes(memory)


def _cited(error: PtxError, lines: Mapping[int, str] | None) -> PtxError:
    """The error with the caller's text about its line."""
    if not lines or error.line not in lines:
        return error
    text = f"{error.reason} at {lines[error.line]}"
    return PtxError(text, error.kind, error.line, error.source, error.kernel, error.block, error.threads)

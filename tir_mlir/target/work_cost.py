"""What work costs on any CPU, in cycles, by its instruction sets alone; and when it is enough for threads."""

from __future__ import annotations

from math import ceil, log2

from tir_mlir.target.cpu import Target

_ENTRY = 2000.0
_DOUBLING = 1500.0
"""Cycles. A tree of threads starts, and is waited for: a line of the cache goes to another core and back for each of
its levels. Measured with two threads that LLVM's OpenMP runtime keeps awake (3,500 cycles on Emerald Rapids); for more,
as the tree grows."""
_ASLEEP = 6
"""How often threads may take the cycles to start them, as they sleep or others use the cores, and still gain time: two
threads then take at most 0.58 of the time of one where they are awake."""
_STREAM = 16.0
"""Bytes a cycle of a loop over several arrays, some of which are not in L2."""
_MATRIX = 32.0
"""Bytes a cycle of one matrix that is read once."""
_TILES = {"int8": 1024.0, "uint8": 1024.0, "bfloat16": 512.0}
"""Multiply-adds a cycle of tile products: 16 x 16 x 64 bytes in 16 cycles."""


def region_cycles(threads: int) -> float:
    """The cycles to start threads and to wait for all of them, without their work; 0 for one thread."""
    return _ENTRY + _DOUBLING * log2(threads) if threads > 1 else 0.0


def balance(iterations: int, threads: int) -> float:
    """The part of threads' time that equal iterations fill: 10 iterations keep 10 of 16 threads busy."""
    return iterations / (ceil(iterations / threads) * threads)


def shared_cycles(cycles: float, threads: int, iterations: int, entries: int = 1) -> float:
    """Of a work in parallel loops of so many iterations, that are entered so often in all."""
    return cycles / (threads * balance(iterations, threads)) + entries * region_cycles(threads)


def worth_threads(cycles: float, threads: int) -> int:
    """The number of threads for a work that takes one of them some cycles: all, as starting them costs the same for
    fewer, or one if the work is too small."""
    return threads if cycles >= least_cycles(threads) else 1


def least_cycles(threads: int) -> float:
    """The cycles on one thread from which on a work is worth threads."""
    return _ASLEEP * region_cycles(threads) * threads / (threads - 1) if threads > 1 else 0.0


def product_cycles(multiply_adds: float, dtype: str, cpu: Target) -> float:
    """Of multiply-adds of operands of a type, two vectors a cycle."""
    return multiply_adds / multiply_add_rate(dtype, cpu, 2 * cpu.vector_bits)


def stream_cycles(size: float) -> float:
    """Of a loop that reads and writes so many bytes."""
    return size / _STREAM


def least_stream(threads: int) -> float:
    """The bytes that a loop reads and writes from which on it is worth threads."""
    return least_cycles(threads) * _STREAM


def matrix_cycles(size: float) -> float:
    """Of a product of a matrix of so many bytes and few vectors."""
    return size / _MATRIX


def multiply_add_rate(dtype: str, cpu: Target, bits: int) -> float:
    """The most multiply-adds of operands of a type in a cycle, by the best instruction of a CPU. bits: the width of
    what it starts in a cycle."""
    if cpu.has("amx-tile") and dtype in _TILES:
        return _TILES[dtype]
    return bits / 32 * _of_float32(dtype, cpu)


def _of_float32(dtype: str, cpu: Target) -> float:
    """Multiply-adds of a type for one of float32."""
    if dtype in ("int8", "uint8"):
        if cpu.has("i8mm"):
            return 8.0
        dots = cpu.has("avx512vnni") or cpu.has("avxvnni") or cpu.has("dotprod")
        return 4.0 if dots else 2.0
    if dtype == "bfloat16":
        return 4.0 if cpu.has("bf16") and cpu.arch == "aarch64" else 2.0 if cpu.has("avx512bf16") else 1.0
    return 0.5 if dtype == "float64" else 1.0

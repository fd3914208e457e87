"""AMX as a machine against the kernel of the CPU: instructions of a product of 512 x 512 x 512 bytes, and times.

Times are taken where the CPU has AMX.

    python tools/bench/amx_machine.py
"""

from __future__ import annotations

import ctypes
import re
import subprocess
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

from tir_mlir import Schedule, accel, build, schedules, target
from tir_mlir.accel import machines
from tir_mlir.script import tir as T

SIZE = 512
_TILES = re.compile(r"\b(tileload\w*|tdp\w+|tilestore\w*|tilezero|ldtilecfg)\b")


@T.prim_func
def packed(
    A: T.Buffer((SIZE, SIZE // 4, 4), "int8"),
    B: T.Buffer((SIZE // 4, SIZE, 4), "int8"),
    C: T.Buffer((SIZE, SIZE), "int32"),
):
    for i, j, r, s in T.grid(SIZE, SIZE, SIZE // 4, 4):
        with T.block("C"):
            vi, vj, vk, vt = T.axis.remap("SSRR", [i, j, r, s])
            with T.init():
                C[vi, vj] = 0
            C[vi, vj] += T.Cast("int32", A[vi, vk, vt]) * T.Cast("int32", B[vk, vj, vt])


@T.prim_func
def plain(A: T.Buffer((SIZE, SIZE), "int8"), B: T.Buffer((SIZE, SIZE), "int8"), C: T.Buffer((SIZE, SIZE), "int32")):
    for i, j, k in T.grid(SIZE, SIZE, SIZE):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = 0
            C[vi, vj] += T.Cast("int32", A[vi, vk]) * T.Cast("int32", B[vk, vj])


def kernel(chip: target.Target):
    """The product as `schedules.auto` schedules it for a CPU."""
    sch = Schedule(plain)
    schedules.auto(sch, target=chip, threads=1)
    return build(sch, target=chip)


def best_time(call, repeats: int = 200) -> float:
    """The least seconds of a call."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    mapping = accel.map(packed, machines.amx())
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder, "product.c"), Path(folder, "product.so")
        source.write_text(mapping.source.replace("void main", "void product"))
        subprocess.run(["cc", "-O2", "-mamx-tile", "-mamx-int8", "-shared", "-fPIC", "-o", library, source], check=True)
        text = subprocess.run(["objdump", "-d", library], check=True, capture_output=True, text=True).stdout
        print("accel.map, in the text:", dict(Counter(_TILES.findall(text))))
        print("accel.map, in a run:   ", mapping.timeline.issued, f"{mapping.cycles} cycles of the model")
        print("kernel, in the text:   ", dict(Counter(_TILES.findall(kernel(target.SAPPHIRE_RAPIDS).assembly))))
        host = target.host()
        if not host.has("amx-tile", "amx-int8"):
            print("this CPU has no AMX: nothing is timed")
            return
        own = kernel(host)
        rng = np.random.default_rng(0)
        a, b = (rng.integers(-128, 128, (SIZE, SIZE), np.int8) for _ in range(2))
        groups = np.ascontiguousarray(b.reshape(SIZE // 4, 4, SIZE).swapaxes(1, 2))
        c, d = np.zeros((SIZE, SIZE), np.int32), np.zeros((SIZE, SIZE), np.int32)
        pointers = [ctypes.c_void_p(x.ctypes.data) for x in (a, groups, d)]
        code = ctypes.CDLL(str(library))
        seconds = best_time(lambda: own(a, b, c)), best_time(lambda: code.product(*pointers))
        np.testing.assert_array_equal(c, d)
        print(f"kernel, which packs B: {seconds[0] * 1e6:.1f} us; accel.map, B packed: {seconds[1] * 1e6:.1f} us")


if __name__ == "__main__":
    main()

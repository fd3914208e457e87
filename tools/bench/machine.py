"""The machine: its name, NumPy's BLAS, and the rate of fused multiply-adds that one core really reaches."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable
from pathlib import Path

import numpy as np

from tir_mlir import Schedule, build
from tir_mlir.runtime.host import Host, host
from tir_mlir.runtime.toolchain import versions
from tir_mlir.script import IRModule
from tir_mlir.script import tir as T

TURNS = 20_000_000


def facts() -> dict[str, str]:
    """What a reader must know of the machine to read the numbers."""
    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]  # type: ignore[index]
    return {
        "cpu": _cpu(),
        "cores": str(os.cpu_count()),
        "vectors": f"{host().vector_bits} bits, {host().registers} registers",
        "python": platform.python_version(),
        "numpy": f"{np.__version__} with {blas['name']} {blas['version']}, 1 thread",
        "mlir": versions()["mlir"].split(" ")[0],
    }


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.split(": ")[1] for line in lines if line.startswith("model name")), platform.machine())


def fma_peak() -> tuple[Callable[[], object], float]:
    """A call that does nothing but independent fused multiply-adds in registers, and how many flops it does."""
    chains = host().registers - 4  # the two factors, and room for the compiler
    sch = Schedule(_program())
    sch.annotate(sch.get_loops("call")[0], "pragma_import_llvm", _chains(host(), chains))
    main, out = build(sch)["main"], np.ones(host().vector_bits // 32 + 2, np.float32)
    return lambda: main(out), 2.0 * TURNS * chains * (host().vector_bits // 32)


def _program() -> IRModule:
    size = host().vector_bits // 32 + 2

    @T.prim_func
    def main(out: T.Buffer((size,), "float32")):  # type: ignore[valid-type]
        for _ in range(1):
            with T.block("call"):
                T.reads(out[0:size])
                T.writes(out[0:size])
                T.evaluate(T.call_extern("int32", "fma_chains", out.access_ptr("rw"), TURNS))

    return main.module  # type: ignore[attr-defined]  # the decorator made it a PrimFunc


def _chains(cpu: Host, chains: int) -> str:
    """LLVM IR of `fma_chains(float *out, int turns)`: out[0] and out[1] are the factors, the sum goes to out[2..]."""
    lanes = cpu.vector_bits // 32
    vector = f"<{lanes} x float>"
    lines = [
        f"declare {vector} @llvm.fma.v{lanes}f32({vector}, {vector}, {vector})",
        "define i32 @fma_chains(ptr %out, i32 %turns) {",
        "entry:",
    ]
    for n, name in enumerate("xy"):
        lines += [
            f"  %{name}p = getelementptr float, ptr %out, i64 {n}",
            f"  %{name}s = load float, ptr %{name}p",
            f"  %{name}v = insertelement {vector} poison, float %{name}s, i64 0",
            f"  %{name} = shufflevector {vector} %{name}v, {vector} poison, <{lanes} x i32> zeroinitializer",
        ]
    lines += ["  br label %body", "body:", "  %t = phi i32 [ 0, %entry ], [ %next, %body ]"]
    lines += [f"  %a{c} = phi {vector} [ zeroinitializer, %entry ], [ %b{c}, %body ]" for c in range(chains)]
    lines += [
        f"  %b{c} = call {vector} @llvm.fma.v{lanes}f32({vector} %a{c}, {vector} %x, {vector} %y)"
        for c in range(chains)
    ]
    lines += [
        "  %next = add i32 %t, 1",
        "  %more = icmp slt i32 %next, %turns",
        "  br i1 %more, label %body, label %end",
    ]
    lines += ["end:", f"  %s0 = fadd {vector} zeroinitializer, %b0"]
    lines += [f"  %s{c} = fadd {vector} %s{c - 1}, %b{c}" for c in range(1, chains)]
    lines += [
        "  %sum = getelementptr float, ptr %out, i64 2",
        f"  store {vector} %s{chains - 1}, ptr %sum, align 4",
        "  ret i32 0",
        "}",
    ]
    return "\n".join(lines)

"""Small kernels for tests of the PTX machine: one instruction on arrays, or a body of instructions."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tir_mlir import ptx

HEADER = ".version 8.7\n.target {target}\n.address_size 64\n"
_REGISTERS = {1: ("h", "b16"), 2: ("h", "b16"), 4: ("r", "b32"), 8: ("d", "b64")}


def kernel(body: str, pointers: int = 2, name: str = "k", shared: int = 0, declarations: str = "") -> str:
    """An entry with `pointers` pointer parameters in %p0, %p1, ..., registers %r, %d, %h, %q (predicates), %t = %tid.x.
    `shared` bytes are `buffer`."""
    parameters = ", ".join(f".param .u64 .ptr .global .align 16 {name}_{i}" for i in range(pointers))
    lines = [
        f".visible .entry {name}({parameters})",
        "{",
        ".reg .b32 %r<64>;",
        ".reg .b64 %d<64>;",
        ".reg .b16 %h<64>;",
    ]
    lines += [".reg .pred %q<16>;", ".reg .b32 %t;", f".reg .b64 %p<{max(pointers, 1)}>;"]
    if shared:
        lines.append(f".shared .align 128 .b8 buffer[{shared}];")
    lines += [declarations] if declarations else []
    for i in range(pointers):
        lines += [f"ld.param.b64 %p{i}, [{name}_{i}];", f"cvta.to.global.u64 %p{i}, %p{i};"]
    lines += ["mov.u32 %t, %tid.x;", body, "ret;", "}"]
    return "\n".join(lines)


def module(*kernels: str, target: str = "sm_90a") -> str:
    """Kernels -> a PTX text."""
    return HEADER.format(target=target) + "\n".join(kernels) + "\n"


def at_thread(pointer: str, size: int, into: str = "%d63") -> str:
    """`into` := the address of the element of the thread."""
    return f"mul.wide.u32 {into}, %t, {size};\nadd.s64 {into}, {into}, {pointer};"


def elementwise(text: str, inputs: Sequence[np.ndarray], result: Any, name: str = "k") -> str:
    """A kernel that stores `text` of each element: in `text`, {d} is the result and {0}, {1} are the inputs."""
    lines, names = [], []
    for i, a in enumerate(inputs):
        prefix, type_ = _REGISTERS[a.itemsize]
        names.append(f"%{prefix}{i + 1}")
        load = "u8" if a.itemsize == 1 else type_
        lines += [at_thread(f"%p{i}", a.itemsize), f"ld.global.{load} {names[-1]}, [%d63];"]
    size = np.dtype(result).itemsize
    prefix, type_ = _REGISTERS[size]
    out = f"%{prefix}0"
    operands = {"d": out} | {str(i): name for i, name in enumerate(names)}
    lines.append(re.sub(r"\{(d|\d)\}", lambda m: operands[m.group(1)], text))
    lines += [at_thread(f"%p{len(inputs)}", size), f"st.global.{type_ if size > 1 else 'u8'} [%d63], {out};"]
    return kernel("\n".join(lines), len(inputs) + 1, name)


def run_elementwise(text: str, inputs: Sequence[np.ndarray], result: Any) -> np.ndarray:
    """The results of `elementwise` on the machine."""
    out = np.zeros(len(inputs[0]), result)
    source = module(elementwise(text, inputs, result))
    ptx.launch(source, "k", (1,), (len(out),), [*inputs, out], unwritten=[len(inputs)])
    return out


def ptxas() -> Path:
    """The assembler of the wheel; the test is skipped without it."""
    spec = pytest.importorskip("nvidia.cuda_nvcc", reason="no ptxas")
    path = Path(next(iter(spec.__path__))) / "bin" / "ptxas"
    if not path.exists():
        pytest.skip("no ptxas")
    return path


def assemble(text: str, tmp_path: Path, target: str = "sm_90a") -> str:
    """What ptxas says of a text: nothing if it accepts it."""
    source = tmp_path / "text.ptx"
    source.write_text(text)
    run = subprocess.run(
        [str(ptxas()), f"-arch={target}", str(source), "-o", str(tmp_path / "text.cubin")],
        capture_output=True,
        text=True,
    )
    return (run.stdout + run.stderr).strip() if run.returncode else ""

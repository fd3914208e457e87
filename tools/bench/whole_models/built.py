"""Our side: from_torch, build, and how long they take in a new process."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from . import onnx_peer
from .subject import Call, Subject
from .table import BF16, F32, INT4, INT8

WEIGHTS = {BF16: "bfloat16", INT4: "int4"}
ACTIVATIONS = {BF16: "bfloat16", INT4: "int8"}
"""What dense layers round the other operand to, as the peers do."""

_PROGRAM = """
import time, torch
from tir_mlir.examples import models
from tir_mlir import build, calibrate, from_torch, quantize_weights
torch.set_grad_enabled(False)
example = models.example({name!r})
torch.export.export(torch.nn.Linear(2, 2).eval(), (torch.zeros(1, 2),))
start = time.perf_counter()
graph = from_torch(example.model, example.inputs{more})
imported = time.perf_counter()
{rounded}build(graph, threads={threads})
print(imported - start, time.perf_counter() - imported)
"""
"""The first export of a process loads parts of PyTorch for seconds, which are not counted; to round weights is a part
of the build."""


def prepared(subject: Subject, threads: int) -> tuple[Call, Any]:
    """A call, and the model behind it."""
    tir_mlir: Any = importlib.import_module("tir_mlir")
    example = subject.example
    more = {} if example.dynamic is None else {"dynamic": example.dynamic}
    if (line := subject.line).weights == INT8:
        graph = _of_bytes(tir_mlir, subject)
    else:
        graph = tir_mlir.from_torch(example.model, example.inputs, **more)
    if line.weights not in (F32, INT8):
        graph = tir_mlir.quantize_weights(graph, WEIGHTS[line.weights], activations=ACTIVATIONS[line.weights])
    model: Any = tir_mlir.build(graph, threads=threads)
    inputs = tuple(each.numpy() for each in example.inputs)
    return lambda: model(*inputs), model


def _of_bytes(tir_mlir: Any, subject: Subject) -> Any:
    """Weights and activations of 8 bits: the file that ONNX Runtime has, else calibrated as that is."""
    try:
        return tir_mlir.from_onnx(onnx_peer.model_file(subject))
    except onnx_peer.Missing:
        example = subject.example
        graph = tir_mlir.from_torch(example.model, example.inputs)
        return tir_mlir.calibrate(graph, [tuple(x.numpy() for x in example.inputs)])


def activations(subject: Subject, model: Any, threads: int) -> int:
    """Bytes of the arena, of the outputs, and of what each thread of a function allocates while it runs."""
    inputs = [each.numpy() for each in subject.example.inputs]
    arena = model.plan.arena.layout(model.sizes_of(inputs))[1]
    return arena + threads * model.memory.scratch + sum(each.nbytes for each in subject.expected)


def seconds_to_build(subject: Subject, threads: int, root: Path) -> dict[str, tuple[float, float]]:
    """Seconds of from_torch and of build, with an empty cache and with what that left there."""
    more = "" if subject.example.dynamic is None else ", dynamic=example.dynamic"
    program = _PROGRAM.format(name=subject.name, threads=threads, more=more, rounded=_rounded(subject))
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        return {which: _run(program, root, folder) for which in ("cold", "cached")}


def _rounded(subject: Subject) -> str:
    """The line that rounds the weights, if the subject has rounded ones."""
    if (weights := subject.line.weights) == F32:
        return ""
    if weights == INT8:
        return "graph = calibrate(graph, [tuple(x.numpy() for x in example.inputs)])\n"
    return f"graph = quantize_weights(graph, {WEIGHTS[weights]!r}, activations={ACTIVATIONS[weights]!r})\n"


def _run(program: str, root: Path, cache: str) -> tuple[float, float]:
    environment = {**os.environ, "TIR_CACHE_DIR": cache, "PYTHONPATH": str(root)}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program], env=environment, check=True, capture_output=True, text=True
    )
    imported, built = done.stdout.split()[-2:]
    return float(imported), float(built)

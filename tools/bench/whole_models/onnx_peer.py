"""ONNX Runtime on its CPU provider, all graph optimizations on, inputs and outputs bound before the calls."""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
import re
import warnings
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch

from .subject import Call, Missing, Subject
from .table import BF16, INT4, INT8

OPSET = 23  # the first one with attention as an operator
NEEDED = ("onnx", "onnxruntime", "onnxscript")


def prepared(subject: Subject, threads: int) -> tuple[Call, Any]:
    """A call, and the session behind it."""
    session = _session(model_file(subject), threads)
    binding = session.io_binding()
    for known, tensor in zip(session.get_inputs(), subject.example.inputs, strict=True):
        binding.bind_cpu_input(known.name, tensor.numpy())
    for known in session.get_outputs():
        binding.bind_output(known.name)

    def call() -> Any:
        session.run_with_iobinding(binding)
        return binding

    return call, session


def outputs(binding: Any) -> list[np.ndarray]:
    return binding.copy_outputs_to_cpu()


def model_file(subject: Subject) -> Path:
    """The exported model; made once and kept."""
    absent = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if absent:
        raise Missing(f"ONNX Runtime needs {', '.join(absent)}: pip install {' '.join(absent)}")
    if subject.line.weights == BF16:
        raise Missing("ONNX Runtime has no bfloat16 products on CPUs")
    path = subject.folder / f"{subject.name}.onnx"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        example = subject.example
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            program = torch.onnx.export(
                example.model, example.inputs, dynamo=True, dynamic_shapes=example.dynamic, opset_version=OPSET,
                verbose=False,
            )  # fmt: skip
        program.save(str(path), external_data=True)  # pyright: ignore[reportOptionalMemberAccess]
    if subject.line.weights == INT8:
        return _int8(path, subject)
    return _int4(path) if subject.line.weights == INT4 else path


def activations(subject: Subject, threads: int) -> int:
    """The most bytes that a call takes: growth of the resident memory, without ONNX Runtime's arena, whose blocks are
    larger than what it needs.

    Raises Missing where the kernel does not tell it.
    """
    call, _ = _without_arena(subject, threads)
    for _ in range(2):  # the first run records the pattern of allocations
        call()
    ctypes.CDLL(None).malloc_trim(0)
    before = _forget_peak()
    call()
    return _resident("VmHWM") - before


def _without_arena(subject: Subject, threads: int) -> tuple[Call, Any]:
    session = _session(model_file(subject), threads, arena=False)
    feeds = {known.name: x.numpy() for known, x in zip(session.get_inputs(), subject.example.inputs, strict=True)}
    return lambda: session.run(None, feeds), session


def _session(path: Path, threads: int, arena: bool = True) -> Any:
    onnxruntime: Any = importlib.import_module("onnxruntime")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.enable_cpu_mem_arena = arena
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def _int8(path: Path, subject: Subject) -> Path:
    """Weights and activations of 8 bits: of images calibrated on the inputs of the benchmark; where the inputs are
    tokens, the activations of products are rounded by their range in each call."""
    quantized = path.with_suffix(".int8.onnx")
    if not quantized.exists():
        q: Any = importlib.import_module("onnxruntime.quantization")
        if not subject.example.inputs[0].is_floating_point():
            registry: Any = importlib.import_module("onnxruntime.quantization.registry")
            kinds = [kind for kind in registry.IntegerOpsRegistry if kind != "Attention"]  # it takes ONNX's for its own
            q.quantize_dynamic(
                str(path), str(quantized), weight_type=q.QuantType.QInt8, op_types_to_quantize=kinds
            )  # fmt: skip
            return quantized

        class Reader(q.CalibrationDataReader):
            left: ClassVar = [subject.example.inputs]

            def get_next(self) -> dict[str, np.ndarray]:
                return {"x": self.left.pop()[0].numpy()} if self.left else {}

        prepared = path.with_suffix(".prepared.onnx")
        q.shape_inference.quant_pre_process(str(path), str(prepared))
        q.quantize_static(
            str(prepared), str(quantized), Reader(), quant_format=q.QuantFormat.QDQ, per_channel=True,
            activation_type=q.QuantType.QUInt8, weight_type=q.QuantType.QInt8,
        )  # fmt: skip
    return quantized


def _int4(path: Path) -> Path:
    """Weights of products in 4 bits, one scale for each 32 of a column; sums in float32."""
    quantized = path.with_suffix(".int4.onnx")
    if not quantized.exists():
        onnx: Any = importlib.import_module("onnx")
        quantizer: Any = importlib.import_module("onnxruntime.quantization.matmul_nbits_quantizer")
        maker = quantizer.MatMulNBitsQuantizer(onnx.load(str(path)), block_size=32, is_symmetric=True, accuracy_level=4)
        maker.process()
        maker.model.save_model_to_file(str(quantized), use_external_data_format=True)
    return quantized


def _forget_peak() -> int:
    """Start counting the peak of resident memory anew; return the bytes resident now."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError as error:
        raise Missing(f"the peak of resident memory cannot be told: {error}") from None
    return _resident("VmRSS")


def _resident(what: str) -> int:
    found = re.search(rf"{what}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return 1024 * int(found[1]) if found else 0

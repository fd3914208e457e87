"""The weights of a model as a safetensors file whose data is the buffer of weights itself."""

from __future__ import annotations

import json

import numpy as np

from tir_mlir.dialect.graph import TensorType
from tir_mlir.graph.memory.arena import LINE
from tir_mlir.graph.memory.buffer_assignment import ExecutionPlan, byte_size

_NAMES = {
    "float64": "F64", "float32": "F32", "float16": "F16", "bfloat16": "BF16", "bool": "BOOL",
    "int64": "I64", "int32": "I32", "int16": "I16", "int8": "I8",
    "uint64": "U64", "uint32": "U32", "uint16": "U16", "uint8": "U8",
}  # fmt: skip
PADDING = "__padding__"
"""Of tensors of bytes between weights: the format has no holes, and weights start at cache lines."""


def header(plan: ExecutionPlan) -> bytes:
    """What stands before the data: its length in 8 bytes, then JSON, such that the data starts at a cache line."""
    listed: dict[str, object] = {"__metadata__": {"format": "tir_mlir", "bytes": str(plan.weight_bytes)}}
    end = 0
    for name, (offset, type_) in plan.weights.items():
        listed |= _padding(end, offset)
        end = offset + int(byte_size(type_))
        listed[name] = _entry(type_, offset, end)
    listed |= _padding(end, plan.weight_bytes)
    text = json.dumps(listed, separators=(",", ":")).encode()
    text += b" " * (-(len(text) + 8) % LINE)
    return len(text).to_bytes(8, "little") + text


def file_content(plan: ExecutionPlan, weights: np.ndarray) -> bytes:
    """The file: the header, then the buffer of weights."""
    return header(plan) + weights.tobytes()


def checksum(data: bytes) -> int:
    """FNV-1a with 64 bits: by it a loader knows that a file has the layout that the code was compiled for."""
    digest = 0xCBF29CE484222325
    for byte in data:
        digest = (digest ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return digest


def _entry(type_: TensorType, start: int, end: int) -> dict[str, object]:
    return {"dtype": _NAMES[type_.dtype], "shape": list(type_.shape), "data_offsets": [start, end]}


def _padding(start: int, end: int) -> dict[str, object]:
    if start == end:
        return {}
    return {f"{PADDING}{start}": {"dtype": "U8", "shape": [end - start], "data_offsets": [start, end]}}

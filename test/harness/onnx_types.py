"""Cases of ONNX's operators in the other element types that their definitions take."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import onnx
from harness.onnx_cases import Case, Known
from onnx import TensorProto, helper

NUMPY = "float16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool".split()
"""Types that NumPy has."""
SMALL = "bfloat16 int4 uint4 float8_e4m3fn float8_e5m2 float4_e2m1".split()
"""Types that NumPy has not: a model gets them by a Cast of each input, and casts its results to float32."""
_SPELLED = {"float": "float32", "double": "float64", "float8e4m3fn": "float8_e4m3fn", "float8e5m2": "float8_e5m2",
            "float4e2m1": "float4_e2m1"}  # fmt: skip


def element_type(dtype: str) -> int:
    """The number of an element type in ONNX."""
    return helper.np_dtype_to_tensor_dtype(np.dtype(dtype)) if dtype in NUMPY else _small_types()[dtype]


def _small_types() -> dict[str, int]:
    names = {name: name.replace("_", "").upper() for name in SMALL}
    return {name: getattr(TensorProto, spelled) for name, spelled in names.items() if hasattr(TensorProto, spelled)}


def in_types(name: str, case: Case, opset: int) -> Iterator[tuple[str, Case, list[int]]]:
    """For each type that the definition takes, and the case does not have: the type, the case with operands of it, and
    the numbers of these operands. The other operands that have to be of the same type change with it."""
    schema = onnx.defs.get_schema(name, opset, "")
    formal = [schema.inputs[min(n, len(schema.inputs) - 1)] for n in range(len(case.operands))] if schema.inputs else []
    for parameter in schema.type_constraints:
        places = [
            n
            for n, (x, of) in enumerate(zip(case.operands, formal, strict=True))
            if of.type_str == parameter.type_param_str and isinstance(x, (np.ndarray, Known))
        ]
        if not places:
            continue
        own = _array(case.operands[places[0]]).dtype.name
        for spelled in sorted(parameter.allowed_type_strs):
            text = spelled.removeprefix("tensor(").removesuffix(")")
            dtype = _SPELLED.get(text, text)
            if dtype != own and dtype in (*NUMPY, *_small_types()):
                operands = [_converted(x, dtype) if n in places else x for n, x in enumerate(case.operands)]
                yield f"{parameter.type_param_str}={dtype}", replace(case, operands=tuple(operands)), places


def _array(x: Any) -> np.ndarray:
    return x.array if isinstance(x, Known) else x


def _converted(x: Any, dtype: str) -> Any:
    """Numbers of the size of those of the case, that the type has: whole ones for integers, from 0 on for unsigned."""
    if isinstance(x, Known):
        return Known(_converted(x.array, dtype))
    if (dtype in NUMPY and dtype[0] in "fb") or x.dtype == bool:
        return x.astype(dtype if dtype in NUMPY else "float32")
    if dtype in SMALL and "int" not in dtype:  # numbers that the type has: ONNX Runtime skips a Cast there and back
        return x.astype(helper.tensor_dtype_to_np_dtype(element_type(dtype))).astype("float32")
    y = x if x.dtype.kind in "iu" else np.round(np.nan_to_num(x, nan=1, posinf=3, neginf=-3) * 5)
    y = np.abs(y) if dtype[0] == "u" else y
    top = {"int4": 7, "uint4": 15, "int8": 127}.get(dtype)
    y = y if top is None else np.clip(y, -top - (dtype == "int4"), top)
    return y.astype(dtype if dtype in NUMPY else "int8" if dtype[0] == "i" else "uint8")

"""Random arguments for the parameters of a function, in memory as users pass them: for runs that are timed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from mlir import ir

from tir_mlir.dialect.diagnostics import TuneError
from tir_mlir.dialect.ir import enter_context, funcs
from tir_mlir.equivalence import inputs
from tir_mlir.runtime.aligned_arrays import empty
from tir_mlir.runtime.call.signature import BufferParam, CallSignature

_FIRST_BIT = 16
"""The position of a bfloat16 in the float32 of the same value."""


def random_arguments(
    module: ir.Module, signature: CallSignature, sizes: Mapping[str, int], seed: int
) -> list[inputs.Argument]:
    """One argument a parameter: floats of 0.5 to 1.5, integers of the whole range, indices inside what they index.

    Results start with random contents, so that an element that is not written shows. Raises TuneError for shape
    variables without a value.
    """
    if missing := [n for n in inputs.symbols(signature) if n not in sizes]:
        raise TuneError(
            f"{signature.name}: a program is measured at sizes, and {', '.join(missing)} has none;"
            f" fix: pass sizes={{{', '.join(f'{n!r}: ...' for n in missing)}}}"
        )
    with enter_context():
        limits = inputs.index_limits(next(f for f in funcs(module) if f.name == signature.name))
    arrays = inputs.ArgumentGenerator(signature, sizes, limits).arrays(seed, inputs.UNIFORM, exact=False)
    return [
        cast_to_dtype(np.asarray(value), p.dtype) if isinstance(p, BufferParam) else value
        for value, p in zip(arrays, signature.params, strict=True)
    ]


def cast_to_dtype(values: np.ndarray, dtype: str) -> np.ndarray:
    """The values in the type of a parameter; bfloat16 as the uint16 of its bits."""
    if dtype == "bfloat16":
        return (values.astype(np.float32).view(np.uint32) >> _FIRST_BIT).astype(np.uint16)
    return values.astype(dtype)


def as_float(values: np.ndarray, dtype: str) -> np.ndarray:
    """The values of a parameter of floats as float64."""
    if dtype == "bfloat16":
        values = (np.asarray(values).astype(np.uint32) << _FIRST_BIT).view(np.float32)
    return np.asarray(values).astype(np.float64)


def copy_aligned(values: Sequence[inputs.Argument], signature: CallSignature) -> list[inputs.Argument]:
    """Copies of arguments where a call takes them: at boundaries of cache lines, with the strides of the parameters."""
    return [
        _copy(np.asarray(value), p) if isinstance(p, BufferParam) else value
        for value, p in zip(values, signature.params, strict=True)
    ]


def _copy(values: np.ndarray, param: BufferParam) -> np.ndarray:
    if param.strides is not None and None not in param.strides:
        return inputs.laid_out(values, param)
    memory = empty(values.shape, values.dtype)
    np.copyto(memory, values)
    return memory

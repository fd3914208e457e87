"""Inputs that a model is measured on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tir_mlir.dialect.diagnostics import TuneError, short_repr
from tir_mlir.graph.frames import numpy_type
from tir_mlir.graph.memory import size_code
from tir_mlir.graph.model import Model
from tir_mlir.runtime.aligned import empty


def model_inputs(model: Model, given: Sequence[Any] | None, sizes: Mapping[str, int]) -> list[Any]:
    """The inputs as given, else random ones: floats of a normal distribution, integers 0, which index anything.

    Raises TuneError for inputs of another number, a named size without a value, or one that is none.
    """
    names = [name for name, _ in model.plan.inputs]
    if given is not None:
        if isinstance(given, (str, np.ndarray)) or not isinstance(given, Sequence):
            raise TuneError(
                f"inputs is a list of arrays, one for each of {', '.join(names)}, not {type(given).__name__}"
            )
        if len(given) != len(names):
            raise TuneError(f"the model takes {', '.join(names) or 'no inputs'}; inputs has {len(given)}")
        return list(given)
    known = model.plan.symbols
    for name, value in sizes.items():
        if name not in known:
            raise TuneError(f"sizes has {short_repr(name)}; the sizes of the graph are {', '.join(known) or 'numbers'}")
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise TuneError(f"the size {name} is a number >= 1, not {short_repr(value)}")
    if missing := [name for name in known if name not in sizes]:
        values = ", ".join(f"{name!r}: ..." for name in known)
        raise TuneError(
            f"a model is measured at sizes, and {', '.join(missing)} has none; fix: inputs=[...], or sizes={{{values}}}"
        )
    rng = np.random.default_rng(0)
    shaped = [(tuple(size_code.value(s, sizes) for s in type_.shape), type_.dtype) for _, type_ in model.plan.inputs]
    return [_filled(shape, dtype, rng) for shape, dtype in shaped]


def _filled(shape: tuple[int, ...], dtype: str, rng: np.random.Generator) -> np.ndarray:
    array = empty(shape, numpy_type(dtype))
    array[...] = rng.standard_normal(shape) if dtype.startswith("float") else 0
    return array

"""Arguments and results of the unscheduled program, computed once and kept in files that all workers read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tir_mlir.equivalence.random_arguments import as_float
from tir_mlir.runtime.call.signature import BufferParam, CallSignature
from tir_mlir.tune.trials.tolerance import EPSILON, first_difference

UNSCHEDULED, STAND_IN = "the unscheduled program", "the library's schedule"


@dataclass(frozen=True)
class Reference:
    """Where arguments and results lie, and how results are compared.

    folder: a file a buffer, before and after the call.
    scalars: the other arguments, by position.
    tolerances: relative, by position of a written buffer; 0.0: equal.
    rounded: integers may differ by one, since floats were rounded to them.
    by: the program that computed the results.
    seconds: CPU seconds of that.
    """

    folder: str
    scalars: tuple[tuple[int, float], ...]
    tolerances: tuple[tuple[int, float], ...]
    rounded: bool = False
    by: str = UNSCHEDULED
    seconds: float = 0.0

    def arguments(self, signature: CallSignature) -> list[Any]:
        """The arguments of a call, mapped from the files. Raises OSError."""
        scalars = dict(self.scalars)
        return [scalars[n] if n in scalars else self._load("in", n) for n in range(len(signature.params))]

    def difference(self, arguments: Sequence[Any], signature: CallSignature) -> str | None:
        """The first element that a call got wrong, as text; None if all is well."""
        for number, tolerance in self.tolerances:
            param = signature.params[number]
            assert isinstance(param, BufferParam)
            want, got = self._load("out", number), arguments[number]
            mismatch = first_difference(want, got, param.dtype, tolerance, self.rounded)
            if mismatch is not None:
                index, count = mismatch
                where = f"{param.name}[{', '.join(map(str, index))}]"
                if param.dtype in EPSILON:
                    want, got = as_float(want[index], param.dtype), as_float(got[index], param.dtype)
                else:
                    want, got = want[index], got[index]
                many = f"{count:,} of {arguments[number].size:,} elements differ"
                return f"{where} is {got}, and {want} by {self.by}; {many}"
        return None

    def save(self, when: str, arguments: Sequence[Any]) -> None:
        """Write the buffers: `when` is "in" before the call, "out" after it. Raises OSError."""
        for number, value in enumerate(arguments):
            if isinstance(value, np.ndarray):
                np.save(self._path(when, number), np.ascontiguousarray(value).reshape(value.shape))

    def _load(self, when: str, number: int) -> np.ndarray:
        return np.load(self._path(when, number), mmap_mode="r", allow_pickle=False)

    def _path(self, when: str, number: int) -> Path:
        return Path(self.folder) / f"{when}{number}.npy"

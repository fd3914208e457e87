"""What a trial runs: the signature of its function, and how long the sums in it are."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from mlir import ir

from tir_mlir.dialect.diagnostics import TuneError
from tir_mlir.dialect.ir import Func, enter_context, funcs
from tir_mlir.equivalence import inputs
from tir_mlir.equivalence.work import work_of
from tir_mlir.runtime.call.signature import BufferParam, CallSignature
from tir_mlir.runtime.library import Library


def signature_of(built: Library, function: str) -> CallSignature:
    """The signature of the function of a job, by name or the only one. Raises TuneError."""
    if function not in built and not (not function and len(built) == 1):
        name = repr(function) if function else "no function is named"
        raise TuneError(
            f"the trial runs one function: {name}, and the program has {', '.join(built)};"
            " fix: pass function= with one of these names"
        )
    return built[function or next(iter(built))].signature


def sum_length(module: ir.Module, signature: CallSignature, sizes: Mapping[str, int]) -> int:
    """How many terms a result is made of, at most: the iterations of the program by its elements written."""
    with enter_context():
        work = work_of(_func(module, signature.name).op, sizes)
    written = [p for p in signature.params if isinstance(p, BufferParam) and p.written]
    elements = max((int(np.prod(inputs.shape_of(p, sizes))) for p in written), default=1)
    return max(1, work // max(1, elements))


def _func(module: ir.Module, name: str) -> Func:
    return next(f for f in funcs(module) if f.name == name)

"""Trial run of an intrinsic's implementation in the interpreter, at registration."""

from __future__ import annotations

import numpy as np

from tir_mlir.dialect.computation import TensorIntrin
from tir_mlir.dialect.diagnostics import InterpreterError, NotInterpreted, UnwrittenError
from tir_mlir.dialect.ir import entered, funcs, ops
from tir_mlir.equivalence.work import work_of
from tir_mlir.interpreter.interpret import interpret
from tir_mlir.intrin.check import only_written
from tir_mlir.runtime.call.signature import BufferParam, signatures

MOST = 1 << 13
"""The iteration limit of a trial (about 20 ms); `TensorIntrin.check` runs longer ones."""


def fault(intrinsic: TensorIntrin) -> str | None:
    """The first difference between implementation and description on small integers, or None.

    Skipped: kernel calls (see `TensorIntrin.check`), ops that the interpreter does not support, long runs.
    """
    with entered():
        desc, impl = intrinsic.desc_func(), intrinsic.impl_func()
        if any(op.name == "func.call" for op in ops(impl.func.op)):
            return None
        if max(work_of(p.func.op, {}) for p in (desc, impl)) > MOST:
            return None
        params = [next(iter(signatures(p.module).values())).params for p in (desc, impl)]
        unset = only_written(funcs(desc.module)[0])
        numbers = [n for n, p in enumerate(params[0]) if p.name in unset]
        modules = desc.module, impl.module
    shaped = [p for p in params[0] if isinstance(p, BufferParam)]
    random = np.random.default_rng(0)
    try:
        given = [random.integers(-3, 4, [d.value({}) for d in p.dims]).astype(p.dtype) for p in shaped]
    except TypeError:  # bfloat16, which NumPy does not support
        return None
    found = []
    for module, own in zip(modules, params, strict=True):
        try:
            report = interpret(module, *[a.copy() for a in given], exact=True, unset=[own[n].name for n in numbers])
        except NotInterpreted:
            return None
        except UnwrittenError as error:
            if module is modules[0]:
                return None
            return f"the implementation reads, or fails to write, an output: {error}"
        except InterpreterError as error:
            return None if module is modules[0] else f"the implementation fails: {error}"
        found.append(list(report.results.values()))
    for param, want, got in zip(params[0], *found, strict=True):
        if wrong := [at for at in np.ndindex(want.shape) if want[at] != got[at]]:
            where = f"{param.name}[{', '.join(map(str, wrong[0]))}]"
            return f"{where} is {got[wrong[0]]} in the implementation and {want[wrong[0]]} in the description"
    return None

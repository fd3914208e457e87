"""TVM names that tir_mlir lacks: they can be imported, and raise when used; as attributes they are not there."""

from __future__ import annotations

import difflib
import types
from collections.abc import Sequence
from typing import Any, NoReturn

from tir_mlir.dialect.diagnostics import TirError

# alternatives by name prefix; the longest match applies
_INSTEAD = {
    "tvm.relay": "graphs of operators are written with tvm.relax",
    "tvm.relax.dpl": "other rewrites of a graph are a tvm.relax.PyExprMutator",
    **{
        f"tvm.relax.testing.{home}{name}": "graphs are run, not differentiated"
        for home in ("", "nn.")
        for name in ("checkpoint", "emit_checkpoint", "emit_checkpoint_sequential")
    },
    "tvm.relax.training": "graphs are run, not differentiated",
    **dict.fromkeys(
        ("tvm.relax.FuncStructInfo", "tvm.relax.FuncType", "tvm.relax.PackedFuncType"),
        "a function is a member of a module, not a value of a graph",
    ),
    "tvm.relax.If": "`if` is written in the text of an @R.function; both of its branches are computed",
    "tvm.relax.frontend.onnx": "models are imported by tvm.relax.frontend.torch.from_fx and tir_mlir.from_torch",
    "tvm.relax.frontend.nn": "models are imported by tvm.relax.frontend.torch.from_fx and tir_mlir.from_torch",
    "tvm.relax.frontend.torch": "it has from_fx; a whole model is imported by tir_mlir.from_torch",
    "tvm.te.create_schedule": "programs are scheduled: tvm.tir.Schedule(te.create_prim_func([A, B, C]))",
    "tvm.te.extern": "a te.compute defines one value per point; write other computations as a @T.prim_func",
    "tvm.te.scan": "a te.compute defines one value per point; write other computations as a @T.prim_func",
    "tvm.tir.tensor_intrin": "no target intrinsics are included; register one by tvm.tir.TensorIntrin.register",
    "tvm.s_tir.tensor_intrin": "no target intrinsics are included; register one by tvm.s_tir.TensorIntrin.register",
    "tvm.tir.transform": "a schedule rewrites programs, tvm.build lowers them",
    "tvm.s_tir.transform": "a schedule rewrites programs, tvm.build lowers them",
    "tvm.tirx.transform": "a schedule rewrites programs, tvm.build lowers them",
    "tvm.meta_schedule": "searches are tvm.meta_schedule.tune_tir, or tir_mlir.tune with more options",
    "tvm.s_tir.meta_schedule": "searches are tvm.s_tir.meta_schedule.tune_tir, or tir_mlir.tune with more options",
    "tvm.auto_scheduler": "searches are tvm.meta_schedule.tune_tir",
    "tvm.autotvm": "searches are tvm.meta_schedule.tune_tir",
    "tvm.cuda": "programs run on the CPU: tvm.cpu()",
    "tvm.rpc": "programs run in this process",
}


class NotInCompat(TirError, AttributeError, NotImplementedError):
    """A TVM name that tir_mlir lacks was looked up, or used after it had been imported."""


class AbsentModule(types.ModuleType):
    """A TVM module, or a name imported from one, that tir_mlir lacks: importing it works, using it raises.

    It has no attributes: `hasattr` is False, looking one up raises NotInCompat.
    """

    def __init__(self, name: str, doc: str = "", siblings: Sequence[str] = ()):
        super().__init__(name, doc)
        self.__dict__["__siblings__"] = siblings

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):  # looked up by Python itself
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        raise NotInCompat(refusal(f"{self.__name__}.{name}"))

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("__"):
            super().__setattr__(name, value)
        elif not isinstance(value, AbsentModule):  # the import system sets submodules
            self._refuse()

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise NotInCompat(refusal(self.__name__, self.__dict__["__siblings__"]))

    def __repr__(self) -> str:
        return f"<{self.__name__}, not part of tir_mlir>"

    __call__ = __getitem__ = __setitem__ = __iter__ = __len__ = __enter__ = __bool__ = __contains__ = _refuse
    __mro_entries__ = __instancecheck__ = __subclasscheck__ = _refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __int__ = __float__ = __index__ = _refuse

    def __exit__(self, *_: Any) -> None: ...


def refusal(name: str, known: Sequence[str] = ()) -> str:
    """The error message for a name, with an alternative."""
    starts = [start for start in _INSTEAD if name == start or name.startswith(start + ".")]
    if starts:
        return f"{name} is not part of tir_mlir: {_INSTEAD[max(starts, key=len)]}"
    parent, _, last = name.rpartition(".")
    close = difflib.get_close_matches(last, known, n=1)
    if close:
        return f"{name} is not part of tir_mlir: did you mean {parent}.{close[0]}?"
    if known:
        return f"{name} is not part of tir_mlir: {parent} has {', '.join(known)}"
    return f"{name} is not part of tir_mlir, which supports tensor programs, their schedules, build and run"

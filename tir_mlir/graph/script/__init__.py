"""The `R` namespace: graphs of operators in TVMScript, and what their bodies say.

    from tir_mlir.graph import script as R

    @R.function
    def main(x: R.Tensor(("n", 784), "float32"), w: R.Tensor((128, 784), "float32")):
        with R.dataflow():
            lv = R.nn.dense(x, w)
            gv = R.nn.relu(lv)
            R.output(gv)
        return gv

Every operator of the table is a name here: `R.add`, `R.nn.softmax`. `dir(R)` lists them.
"""

from __future__ import annotations

import base64
import builtins as _builtins
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any as _Any

import numpy as np

from tir_mlir.dialect.diagnostics import GraphError, ScriptError
from tir_mlir.graph.expressions import (
    Constant,
    ExternFunc,
    ObjectStructInfo,
    PrimStructInfo,
    ShapeStructInfo,
    TensorStructInfo,
    TupleStructInfo,
    const,
    prim_value,
)
from tir_mlir.graph.expressions import Tuple as _TupleExpr
from tir_mlir.graph.expressions.match_cast import MatchCast
from tir_mlir.graph.expressions.operator_calls import OperatorSpace, branch, call_dps_packed, call_tir, find, loop
from tir_mlir.graph.expressions.struct_info import as_struct_info
from tir_mlir.graph.operators import OPERATORS
from tir_mlir.script.parser import decorate

Tensor, Shape, Prim = TensorStructInfo, ShapeStructInfo, PrimStructInfo
Object = Any = ObjectStructInfo
op = OperatorSpace()
"""The operators again: `relax.op.add` means `R.add` in a graph."""

__all__ = [
    "Any", "ExternFunc", "Object", "Prim", "Shape", "Tensor", "Tuple", "branch", "call_dps_packed", "call_tir", "const",
    "dataflow", "func_attr", "function", "loop", "match_cast", "output", "prim_value", "shape", "shape_of", "tuple",
]  # fmt: skip


def function(func: _Any = None, *, private: bool = False, pure: bool = True, check_well_formed: bool = True) -> _Any:
    """Parse a function as a graph: a `Function`; in a class decorated with `@I.ir_module` a member of the module.

    private: a group of operators, which other graphs call. Raises ScriptError with the line.
    """
    frame = sys._getframe(1)
    if func is None:
        return lambda f: decorate(f, private, check_well_formed, frame, graph=True)
    return decorate(func, private, check_well_formed, frame, graph=True)


def Tuple(*fields: _Any) -> _Any:
    """The type of several values: `R.Tuple(R.Tensor((1, 4), "float32"), R.Tensor((1,), "int64"))`."""
    return TupleStructInfo(fields[0] if len(fields) == 1 and isinstance(fields[0], (list, _builtins.tuple)) else fields)


def tuple(*fields: _Any) -> _Any:
    """Several values as one: `R.tuple(a, b)` is `(a, b)`."""
    return _TupleExpr(fields)


@contextmanager
def dataflow() -> Iterator[None]:
    """`with R.dataflow():` around bindings without side effects, which all are. Its last line is `R.output(...)`."""
    raise ScriptError("R.dataflow() is a line of a function with @R.function; in Python it is BlockBuilder.dataflow()")
    yield


def output(*values: _Any) -> None:
    """The last line of a dataflow block: the values that are used after it."""


def func_attr(attributes: dict[str, _Any]) -> None:
    """Attributes of the function: `R.func_attr({"num_input": 1})`."""


def shape(values: Sequence[_Any]) -> _Any:
    """A shape as a value."""
    return ShapeStructInfo(values).values


def shape_of(value: _Any) -> _Any:
    """The shape of a tensor as a value."""
    return value.shape


def match_cast(value: _Any, struct_info: _Any) -> _Any:
    """The value, said to be of a type: `x1 = R.match_cast(x, R.Tensor((n, m), "float32"))` names the sizes of x.

    A name that no size has yet becomes that of the size; the rest must be shown to be so when the graph is read.
    """
    return MatchCast(value, as_struct_info(struct_info))


def const_of_bytes(data: str, shape: Sequence[int], dtype: str) -> Constant:
    """A large constant as `script(show_meta=True)` prints it: its elements as base64."""
    values = np.frombuffer(base64.b64decode(data), np.dtype(dtype))
    if values.size != int(np.prod(shape, dtype=np.int64)):
        raise GraphError(f"a constant of shape {(*shape,)} has {values.size} elements in the metadata")
    return Constant(values.reshape((*shape,)).copy())


def __getattr__(name: str) -> _Any:
    """The operators of the table."""
    if name.startswith("__"):
        raise AttributeError(name)
    return find(name)


def __dir__() -> list[str]:
    return sorted({*__all__, *(name.split(".")[0] for name in OPERATORS)})

"""`tvm.relax.testing.nn`: layers that write themselves into the function that a BlockBuilder has open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from tir_mlir import topi
from tir_mlir.compat.ndarray import NDArray, array
from tir_mlir.dialect.diagnostics import GraphError, short_repr
from tir_mlir.graph.expressions import BlockBuilder, TensorStructInfo, Var
from tir_mlir.script.module import IRModule

if TYPE_CHECKING:
    from tir_mlir.graph.expressions import Expr
    from tir_mlir.graph.expressions.block_builder import TeFunction
    from tir_mlir.te import Expr as Size


def emit(expr: Expr, name_hint: str = "") -> Var:
    """Bind a value in the function that is being written."""
    return _builder().emit(expr, name_hint)


def emit_te(
    func: TeFunction, *args: object, name_hint: str = "", primfunc_name_hint: str | None = None, **options: object
) -> Var:
    """Bind the call of a program that is made of a function on te tensors, in the function that is being written."""
    return _builder().emit_te(func, *args, name_hint=name_hint, primfunc_name_hint=primfunc_name_hint, **options)


def _builder() -> BlockBuilder:
    builder = BlockBuilder.current()
    if builder is None:
        raise GraphError('no function is being written; fix: call the layer inside `with bb.function("main"):`')
    return builder


class _Input(Var):
    """A parameter of the function to be written. Inside of one its name is one that no other parameter has."""

    def __init__(self, shape: Sequence[int | str | Size], dtype: str, name: str):
        if not isinstance(shape, (list, tuple)):
            raise GraphError(f"the shape of {name} is a list or a tuple, not {short_repr(shape)}")
        builder = BlockBuilder.current()
        unique = name if builder is None else builder.emitter.fresh(name, numbered=True)
        super().__init__(unique, TensorStructInfo(shape, dtype))


class Placeholder(_Input):
    """An input: `Placeholder((1, 784), name="data")`."""

    def __init__(self, shape: Sequence[int | str | Size], dtype: str = "float32", name: str = "data"):
        super().__init__(shape, dtype, name)


class Parameter(_Input):
    """A weight, which `Module.parameters` lists."""

    def __init__(self, shape: Sequence[int | str | Size], dtype: str = "float32", name: str = "param"):
        super().__init__(shape, dtype, name)


class Module:
    """A layer: its attributes are parameters and other layers; `forward` writes what it computes."""

    define_subroutine = False

    def parameters(self) -> list[Parameter]:
        """The parameters of this layer and of those in it, in the order of its attributes."""
        return _parameters(vars(self))

    def forward(self, *args: Expr, **options: object) -> Expr:
        """What the layer computes. Errors: GraphError for a class without it."""
        raise GraphError(f"the layer {type(self).__name__} has no forward; fix: def forward(self, input): ...")

    def __call__(self, *args: Expr, **options: object) -> Expr:
        if self.define_subroutine:
            raise GraphError(
                f"{type(self).__name__}.define_subroutine is not supported; fix: leave it False, and the layer is "
                "written where it is called"
            )
        return self.forward(*args, **options)


def _parameters(value: object) -> list[Parameter]:
    if isinstance(value, Parameter):
        return [value]
    if isinstance(value, Module):
        return value.parameters()
    items = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return [parameter for item in items for parameter in _parameters(item)]


class Sequential(Module):
    """Layers one after the other."""

    def __init__(self, *modules: Module):
        self.modules = modules

    def forward(self, input: Expr) -> Expr:
        for module in self.modules:
            input = module(input)
        return input


class ReLU(Module):
    """max(x, 0)."""

    def forward(self, input: Expr) -> Var:
        return emit_te(topi.nn.relu, input)


class LogSoftmax(Module):
    """The logarithm of the softmax along the last axis."""

    def forward(self, input: Expr) -> Var:
        return emit_te(topi.nn.log_softmax, input)


class Linear(Module):
    """x @ weight + bias, with a weight of (in_features, out_features)."""

    def __init__(self, in_features: int | str | Size, out_features: int | str | Size, bias: bool = True):
        self.in_features, self.out_features = in_features, out_features
        self.weight = Parameter((in_features, out_features), name="linear_weight")
        self.bias = Parameter((out_features,), name="linear_bias") if bias else None

    def forward(self, input: Expr) -> Var:
        product = emit_te(topi.matmul, input, self.weight)
        return product if self.bias is None else emit_te(topi.add, product, self.bias)


def init_params(mod: IRModule) -> list[NDArray]:
    """Zeros for each parameter of `main` whose name does not begin with `data`. Errors: GraphError for named sizes."""
    weights = [p for p in mod.graphs["main"].params if not p.name_hint.startswith("data")]
    for param in weights:
        if not all(isinstance(size, int) for size in param.shape):
            raise GraphError(
                f"parameter {param.name_hint} is {param.struct_info}; fix: give its sizes as numbers, or make the "
                "array with tvm.nd.array"
            )
    return [array(np.zeros(tuple(p.shape), p.dtype)) for p in weights]

"""What the tables of torch's operators are written with: sizes and element types of torch, and the emitter."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from operator import mul
from typing import TYPE_CHECKING, TypeAlias

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.dialect.symbolic import Constant, IntExpr, Symbol, operation, plus, size_of
from tir_mlir.graph.importers.emitter import OperatorEmitter
from tir_mlir.graph.importers.random_numbers import RandomState

if TYPE_CHECKING:
    import sympy
    import torch

    from tir_mlir.graph.builder import GraphBuilder, Value

Term: TypeAlias = "Value | int | float"
"""What operators of torch compute with: a tensor or a number."""
PARTS = {"complex32": "float16", "complex64": "float32", "complex128": "float64"}
"""The type of the real and the imaginary part."""


def dtype_name(dtype: torch.dtype | str) -> str:
    """torch.float32 -> "float32". Weights of float8 are bfloat16, which has all of their values."""
    return "bfloat16" if is_float8(dtype) else str(dtype).removeprefix("torch.")


def is_float8(dtype: torch.dtype | str | None) -> bool:
    """Whether a type of torch is one of the floats of 8 bits."""
    return str(dtype).startswith("torch.float8")


class TorchSizes:
    """Sizes are integers, or SymInts whose expressions are of sympy.

    names: those that the user gave the symbols. equal: expressions that torch knows symbols to be equal to.
    """

    def __init__(self, names: dict[str, str], equal: Mapping[sympy.Basic, sympy.Basic] | None = None):
        self.names, self.equal = names, dict(equal or {})

    def size(self, value: int | torch.SymInt | torch.SymBool | torch.SymFloat) -> int | str:
        """A number, or an expression as text: SymInt(s77 + 1) -> "n + 1"."""
        return value if isinstance(value, int) else size_of(self._int_expr(value.node.expr))

    def shape(self, value: torch.Tensor) -> tuple[int | str, ...]:
        """The shape of a tensor of torch."""
        return tuple(self.size(s) for s in value.shape)

    def _int_expr(self, expr: sympy.Basic) -> IntExpr:
        """An expression of sympy; the terms of a sum are sorted, numbers last."""
        if expr in self.equal:
            return self._int_expr(self.equal[expr])
        if expr.is_Symbol:
            return Symbol(self.names.get(str(expr), str(expr)))
        if isinstance(value := getattr(expr, "p", None), int) and expr.is_Integer:
            return Constant(value)
        parts = [self._int_expr(arg) for arg in expr.args]
        if expr.is_Add:
            return reduce(plus, sorted(parts, key=lambda part: (isinstance(part, Constant), str(part))))
        if expr.is_Mul:
            return reduce(mul, parts)
        if expr.is_Pow and isinstance(parts[1], Constant) and parts[1].value > 0:
            return reduce(mul, parts[:1] * int(parts[1].value))
        symbol = {"FloorDiv": "//", "CleanDiv": "//", "Mod": "%", "PythonMod": "%"}.get(type(expr).__name__)
        if symbol and len(parts) == 2:
            return operation(symbol, *parts)
        raise GraphError(
            f"the size {expr} is not a sum, product or quotient of sizes\n  fix: make this dimension static"
        )


class TorchEmitter(OperatorEmitter):
    """An emitter that knows which result torch gives for the node that is translated.

    `shape`, `dtype`: of the result, or of the first of several. random: what it draws random numbers from. numbers:
    what `item` read.
    """

    node: torch.fx.Node  # that is translated; not set before the first

    def __init__(self, builder: GraphBuilder, sizes: TorchSizes):
        super().__init__(builder)
        self.sizes = sizes
        self.random: RandomState | None = None
        self.wide: str | None = None  # the type to compute in, where it is not that of the result
        self.numbers: dict[str, Value] = {}  # tensors without axes, by the names that torch gives what `item` reads

    @property
    def name_hint(self) -> str:
        """The name of the node."""
        return self.node.name if hasattr(self, "node") else "lv"

    @property
    def results(self) -> list[torch.Tensor]:
        """What torch says of the results: tensors without data."""
        value = self.node.meta.get("val", ())
        return list(value) if isinstance(value, (tuple, list)) else [value]

    @property
    def shape(self) -> tuple[int | str, ...]:
        return self.sizes.shape(self.results[0])

    @property
    def dtype(self) -> str:
        """That of the result; of complex numbers that of their parts. Where `wide` is set, that."""
        if self.wide is not None:
            return self.wide
        return PARTS.get(name := dtype_name(self.results[0].dtype), name)

    def common_dtype(self) -> str:
        """The type that torch converts the operands of this node to, before it compares them, say."""
        import torch

        x, y = (a for a in self.node.args[:2] if isinstance(a, (torch.fx.Node, int, float, complex)))
        return dtype_name(torch.result_type(*(a.meta["val"] if isinstance(a, torch.fx.Node) else a for a in (x, y))))

"""What a graph knows of an operator."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property, partial
from typing import TYPE_CHECKING, TypeVar

from tir_mlir.dialect.diagnostics import GraphError, TirError
from tir_mlir.graph.operators.array_rules import ArrayRule

if TYPE_CHECKING:
    from tir_mlir.graph.operators.attributes import Attribute
    from tir_mlir.te.tensor import Tensor

T = TypeVar("T")
U = TypeVar("U")


class OperatorKind(Enum):
    """The classes of operators, as far as transforms of graphs need them."""

    ELEMENTWISE = "elementwise"  # each element from those at its index; operands broadcast, one of two may be a number
    VIEW = "view"  # the elements of the first operand, in their order, in another shape
    ROWS = "row-wise"  # each row along `axis` from that row; the result has the shape of the first operand
    REDUCTION = "reduction"  # over the axes `axis`, which remain with size 1 if `keepdims`
    PRODUCT = "product"  # rows by a matrix
    CONVOLUTION = "convolution"  # with `data_layout`, `kernel_layout` and perhaps `out_layout`
    POOL = "pool"  # over windows, with `layout`
    COUNTED = "counted"  # the first rows of the first operand; the second one is their number, a size of its own
    OTHER = "other"


@dataclass(frozen=True)
class Operator:
    """An operator: `te(*tensors, **attrs)` is its result, a tensor or several.

    name: as in relax, without `relax.`.
    own_attrs: attributes with their defaults, None: the parameters of `te` after the operands.
    linalg: the named linalg op ("linalg.add") that computes the same where operand and result types are equal, or None.
    kind: what transforms know of it.
    num_inputs: how many of the parameters of `te` are operands, None: all up to `*tensors`, or those without a default.
    named: the operands behind them that `te` and calls take by keyword only, each of which needs all before it.
    torch, onnx: the operators of PyTorch ("exp", or "max.other", of an overload) and ONNX ("Exp"), separated by spaces,
        that are this one on operands of the type of the result.
    divides: it is not defined for integers divided by 0.
    homogeneous: of operands that are multiplied by one positive number, the result is multiplied by it.
    arrays: how NumPy computes it on weights, where it does so at the speed of memory.
    """

    name: str
    te: Callable[..., Tensor | Sequence[Tensor]]
    own_attrs: Mapping[str, Attribute | Required] | None = None
    linalg: str | None = None
    kind: OperatorKind = OperatorKind.OTHER
    num_inputs: int | None = None
    named: tuple[str, ...] = ()
    torch: str = ""
    onnx: str = ""
    divides: bool = False
    homogeneous: bool = False
    arrays: ArrayRule | None = None

    @cached_property
    def attrs(self) -> Mapping[str, Attribute | Required]:
        """The attributes with their defaults, `REQUIRED` for those without: (x, y, axis=0) -> {"axis": 0}."""
        if self.own_attrs is not None:
            return self.own_attrs
        parameters, count = list(inspect.signature(self.te).parameters.values()), self.num_inputs
        if count is None:
            several = [n for n, p in enumerate(parameters) if p.kind is p.VAR_POSITIONAL]
            optional = [n for n, p in enumerate(parameters) if p.default is not p.empty]
            count = several[0] + 1 if several else min(optional, default=len(parameters))
        attributes = [p for p in parameters[count:] if p.name not in self.named]
        return {p.name: REQUIRED if p.default is p.empty else p.default for p in attributes}

    @cached_property
    def operands(self) -> list[inspect.Parameter]:
        """The parameters of `te` that are tensors."""
        parameters = inspect.signature(self.te).parameters.values()
        operands = [p for p in parameters if p.name not in self.attrs]
        return [p for p in operands if p.kind is not p.KEYWORD_ONLY or p.name in self.named]

    def with_named(self, operands: Sequence[T], keywords: dict[str, U]) -> list[T | U]:
        """The operands, and behind them those that are given by keyword, which are taken out of the keywords.
        Errors: GraphError if one before them is missing."""
        named_operands = {name: keywords.pop(name) for name in self.named if name in keywords}
        named_operands = {name: value for name, value in named_operands.items() if value is not None}
        missing = self.operands[len(operands) : -len(self.named)] if named_operands else []
        if missing:
            raise GraphError(
                f"{self.name} takes {next(iter(named_operands))} with {missing[0].name} only; fix: pass both"
            )
        return [*operands, *named_operands.values()]

    def format_operands(self, operands: Sequence[str]) -> list[str]:
        """Operands as a call takes them: those by keyword with their names."""
        names = [p.name for p in self.operands] if self.named else []
        return [f"{names[n]}={x}" if names and names[n] in self.named else x for n, x in enumerate(operands)]

    @cached_property
    def takes_tuple(self) -> bool:
        """Whether any number of tensors are its operand, `R.concat((x, y), axis=0)`."""
        return [p.kind for p in self.operands] == [inspect.Parameter.VAR_POSITIONAL]

    def apply(
        self, operands: Sequence[Tensor | float], attributes: Mapping[str, Attribute], types: Sequence[object]
    ) -> Tensor | Sequence[Tensor]:
        """What `te` makes of tensors, or numbers: a tensor or several. attributes: as `te` takes them; types: of the
        operands. Errors: GraphError for operands that it does not take.
        """
        try:
            count = len(self.operands) - len(self.named) if self.named else len(operands)
            named = dict(zip(self.named, operands[count:], strict=False))
            return self.te(*operands[:count], **named, **attributes)
        except GraphError:
            raise
        except (TirError, TypeError, ValueError, IndexError) as error:
            refused = ", ".join(map(str, types)) or "no operands"
            raise GraphError(f"{self.name} does not take {refused}: {error}") from error


class Required:
    """The mark of an attribute without a default."""

    def __repr__(self) -> str:
        return "REQUIRED"


REQUIRED = Required()


elementwise = partial(Operator, kind=OperatorKind.ELEMENTWISE)
view = partial(Operator, kind=OperatorKind.VIEW)
row_wise = partial(Operator, kind=OperatorKind.ROWS)
reduction = partial(Operator, kind=OperatorKind.REDUCTION)

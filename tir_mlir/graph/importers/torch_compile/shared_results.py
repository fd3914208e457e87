"""Results of a graph of TorchDynamo that share memory with an input or with each other, as TorchDynamo traced them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

import torch

from tir_mlir.dialect.diagnostics import GraphError

if TYPE_CHECKING:
    import sympy

Arguments: TypeAlias = "Sequence[Any]"
"""What a call of a graph is given: at each position a tensor, a size or a number, as the graph has it there."""
Form: TypeAlias = "int | sympy.Expr"
"""A size, a stride or an offset: a number, or an expression."""
Read: TypeAlias = "Callable[[Any], int]"
"""What reads a size of an argument: of a tensor an axis or a stride, else its value."""
F = TypeVar("F", bound=Form)
_REMEMBERED = 256
"""Combinations of sizes whose layouts are remembered."""


@dataclass(frozen=True)
class _Layout(Generic[F]):
    """Sizes, strides and the first element of a tensor in its memory: numbers, or expressions of sympy."""

    sizes: tuple[F, ...]
    strides: tuple[F, ...]
    offset: F

    @property
    def is_dense(self) -> bool:
        """Whether the elements lie one after the other from the start of the memory on, in some order of the axes."""
        left = [(size, stride) for size, stride in zip(self.sizes, self.strides, strict=True) if size != 1]
        step: Form = 1
        while steps := [n for n, (_, stride) in enumerate(left) if stride == step]:
            step = step * left.pop(steps[0])[0]
        return not left and self.offset == 0

    def in_numbers(self, values: Mapping[sympy.Basic, int]) -> _Layout[int]:
        """The layout where symbols have these values."""
        sizes, strides = (tuple([_number(n, values) for n in part]) for part in (self.sizes, self.strides))
        return _Layout(sizes, strides, _number(self.offset, values))


@dataclass(frozen=True)
class _Result:
    """A result: the input or the computed value of a position, or a view of it. layout: offsets count from the start
    of that tensor."""

    is_input: bool
    position: int
    layout: _Layout[Form] | None = None


class SharedResults:
    """How the results of a graph are made of the values that are computed, so that they share memory as torch's do.

    computed: the nodes that are computed. is_needed: whether any result is not one of these. Raises GraphError for
    memory that is shared in a way that strides do not tell.
    """

    def __init__(self, graph_module: torch.fx.GraphModule):
        nodes = list(graph_module.graph.nodes)
        self.inputs = [_example_value(node) for node in nodes if node.op == "placeholder"]
        (output,) = [node for node in nodes if node.op == "output"]
        self.computed: list[torch.fx.Node] = []
        self._bases: dict[int, int] = {}  # the value that fills a memory which several results share
        self._base_layouts: dict[int, _Layout[Form]] = {}
        memories = [_memory(_example_value(node)) for node in output.args[0]]
        of_inputs = {_memory(value): n for n, value in reversed(list(enumerate(self.inputs)))}
        self._results: list[_Result] = []
        for node, memory in zip(output.args[0], memories, strict=True):
            if memory is not None and memory in of_inputs:
                self._results.append(self._of_input(node, of_inputs[memory]))
            elif memory is not None and memories.count(memory) > 1:
                self._results.append(self._of_value(node, memory, nodes))
            else:
                self._results.append(_Result(False, self._value(node)))
        self.is_needed = any(result.is_input or result.layout is not None for result in self._results)
        self._symbols = _sources(self.inputs)
        self._check_symbols()
        self._known: dict[tuple[int, ...], tuple[list[_Layout[int] | None], dict[int, _Layout[int]]]] = {}

    def _value(self, node: torch.fx.Node) -> int:
        self.computed.append(node)
        return len(self.computed) - 1

    def _of_input(self, node: torch.fx.Node, first: int) -> _Result:
        """A result in the memory of inputs, of which the first has this position."""
        value = _example_value(node)
        same = [n for n, other in enumerate(self.inputs) if other is value]
        if same:
            return _Result(True, same[0])
        return _Result(True, first, _relative_layout(node, value, self.inputs[first]))

    def _of_value(self, node: torch.fx.Node, memory: int, nodes: Sequence[torch.fx.Node]) -> _Result:
        """A result in memory that the graph makes, and that it shares with other results."""
        if memory not in self._bases:
            base = next(
                (n for n in nodes if n.op != "output" and _memory(_example_value(n)) == memory and _fills(n)), None
            )
            if base is None:
                raise GraphError(f"{node.name} shares memory with another result, which no value fills")
            self._bases[memory] = self._value(base)
            self._base_layouts[self._bases[memory]] = _layout(_example_value(base))
        position = self._bases[memory]
        value, base = _example_value(node), _example_value(self.computed[position])
        return _Result(False, position, None if value is base else _relative_layout(node, value, base))

    def _check_symbols(self) -> None:
        layouts = [*(result.layout for result in self._results if result.layout), *self._base_layouts.values()]
        needed = {
            symbol
            for layout in layouts
            for form in (*layout.sizes, *layout.strides, layout.offset)
            for symbol in getattr(form, "free_symbols", ())
        }
        if missing := sorted(map(str, needed - set(self._symbols))):
            raise GraphError(f"the layout of a result depends on {missing[0]}, which no input has")

    def computed_graph(self, graph_module: torch.fx.GraphModule) -> torch.fx.GraphModule:
        """The graph with the computed values as its results."""
        graph, copies = torch.fx.Graph(), {}
        graph.graph_copy(graph_module.graph, copies)
        graph.output(tuple([copies.get(value, value) for value in self.computed]))
        return torch.fx.GraphModule(graph_module, graph)

    def results_of_call(self, args: Arguments, values: Arguments) -> tuple[object, ...]:
        """The results of a call. args: after they were written to; values: of the nodes `computed`."""
        layouts, base_layouts = self._in_numbers(args)
        bases = [_restore_layout(v, base_layouts[n]) if n in base_layouts else v for n, v in enumerate(values)]
        results = []
        for result, layout in zip(self._results, layouts, strict=True):
            base = args[result.position] if result.is_input else bases[result.position]
            results.append(base if layout is None else _view(base, layout))
        return tuple(results)

    def _in_numbers(self, args: Arguments) -> tuple[list[_Layout[int] | None], dict[int, _Layout[int]]]:
        """The layouts of results and of bases in a call."""
        key = tuple([read(args[n]) for n, read in self._symbols.values()])
        if key not in self._known:
            values = dict(zip(self._symbols, key, strict=True))
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            layouts = [None if r.layout is None else r.layout.in_numbers(values) for r in self._results]
            self._known[key] = layouts, {n: layout.in_numbers(values) for n, layout in self._base_layouts.items()}
        return self._known[key]


def _example_value(node: object) -> Any:
    """What TorchDynamo says of the value of a node: a tensor without data."""
    return node.meta.get("example_value") if isinstance(node, torch.fx.Node) else None


def _memory(value: object) -> int | None:
    """A key that is equal for tensors in the same memory; None for other values."""
    return value.untyped_storage()._cdata if isinstance(value, torch.Tensor) else None


def _form(number: int | torch.SymInt) -> Form:
    return number.node.expr if isinstance(number, torch.SymInt) else number


def _number(form: Form, values: Mapping[sympy.Basic, int]) -> int:
    number: Any = form if isinstance(form, int) else form.xreplace(values)  # which sympy types as any expression
    return int(number)


def _layout(value: torch.Tensor, start: int | torch.SymInt = 0) -> _Layout[Form]:
    sizes, strides = (tuple(map(_form, part)) for part in (value.shape, value.stride()))
    return _Layout(sizes, strides, _form(value.storage_offset() - start))


def _relative_layout(node: torch.fx.Node, value: torch.Tensor, base: torch.Tensor) -> _Layout[Form]:
    """The layout of a view in the memory of a tensor. Raises GraphError for one of another type."""
    if value.dtype != base.dtype or value.is_conj() != base.is_conj() or value.is_neg() != base.is_neg():
        raise GraphError(f"{node.name} is memory of an input or a result as another type")
    return _layout(value, base.storage_offset())


def _fills(node: torch.fx.Node) -> bool:
    """Whether the elements of a value are all that its memory has."""
    value = _example_value(node)
    left = value.untyped_storage().nbytes() - value.numel() * value.dtype.itemsize
    return _layout(value, 0).is_dense and _form(left) == 0


def _sources(inputs: Arguments) -> dict[sympy.Basic, tuple[int, Read]]:
    """For each symbol an input, by position, and what reads it from that."""
    found: dict[sympy.Basic, tuple[int, Read]] = {}
    for position, value in enumerate(inputs):
        reads: list[tuple[int | torch.SymInt, Read]] = [(value, int)] if isinstance(value, torch.SymInt) else []
        if isinstance(value, torch.Tensor):
            reads += [(size, lambda t, axis=axis: t.shape[axis]) for axis, size in enumerate(value.shape)]
            reads += [(size, lambda t, axis=axis: t.stride(axis)) for axis, size in enumerate(value.stride())]
        for size, read in reads:
            if not isinstance(form := _form(size), int) and form.is_Symbol:
                found.setdefault(form, (position, read))
    return found


def _restore_layout(value: torch.Tensor, layout: _Layout[int]) -> torch.Tensor:
    """A tensor with the strides that torch gives it."""
    if value.stride() == layout.strides:
        return value
    return torch.empty_strided(layout.sizes, layout.strides, dtype=value.dtype).copy_(value)


def _view(base: torch.Tensor, layout: _Layout[int]) -> torch.Tensor:
    return base.as_strided(layout.sizes, layout.strides, base.storage_offset() + layout.offset)

"""`GraphBuilder`: write a graph node by node."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias, overload

import numpy as np
from mlir import ir

from tir_mlir.dialect.diagnostics import GraphError, TirError, check_type, short_repr
from tir_mlir.dialect.graph import LoopFacts, Node, TensorFunc, TensorType, control, create, encoding, node_of
from tir_mlir.dialect.ir import KeptSymbols, attrs, enter_context, is_program, kept_symbols, symbols_kept
from tir_mlir.dialect.ir import create as tir_create
from tir_mlir.dialect.ir import symbol as symbol_of
from tir_mlir.extensions import extension_point
from tir_mlir.graph.callee_types import (
    called_graph,
    called_types,
    check_parameters,
    check_regions,
    renamed_types,
    substitute_size,
    unbound_sizes,
)
from tir_mlir.graph.copied_body import copy_body
from tir_mlir.graph.emit import as_tensor_list, emit
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.operators import OperatorKind, find_operator, kind_of
from tir_mlir.graph.size_code import GraphSizes, ShapeLike, Size, checked_dtype, symbols
from tir_mlir.script.module import IRModule, PrimFunc, copy_function
from tir_mlir.script.structural_equal import canonical
from tir_mlir.te import Tensor, create_prim_func

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from tir_mlir.graph.operators.attributes import Attribute, Several
    from tir_mlir.graph.region_builder import CountedOf, Region

Operand: TypeAlias = "Value | np.ndarray | np.generic | float"
"""What an operator takes: a tensor of the graph, or a constant."""
Values: TypeAlias = "Value | tuple[Value, ...]"
"""What a node makes: one tensor or several."""
ResultType: TypeAlias = tuple[ShapeLike, "str | np.dtype"]
"""Shape and element type of a result."""


class Value:
    """A tensor of a graph that is being built."""

    def __init__(self, builder: GraphBuilder, value: ir.Value, name: str, type_: TensorType):
        self.builder, self.value, self.name, self.type = builder, value, name, type_

    @property
    def shape(self) -> tuple[Size, ...]:
        """The sizes: numbers, or expressions of named sizes as text."""
        return self.type.shape

    @property
    def dtype(self) -> str:
        return self.type.dtype

    @property
    def ndim(self) -> int:
        return len(self.type.shape)

    def __repr__(self) -> str:
        return f"Value({self.name}: {self.type})"


class GraphBuilder:
    """Write a graph: inputs, then nodes, then what it returns.

        b = GraphBuilder("main")
        x = b.input("x", ("n", 784), "float32")
        w = b.weight("fc.weight", array)
        b.output(b.op("nn.relu", b.op("nn.dense", x, w)))
        graph = b.finish()

    Types are inferred: a node whose operands do not fit its operator is a GraphError that names both.
    """

    def __init__(self, name: str = "main", module: IRModule | None = None, kind: str = encoding.GRAPH):
        """name: of the function; module: one to add it to, which has the functions that it calls (default: new)."""
        check_type(name, str, "GraphBuilder", "name", "the name of the function")
        self.sizes = GraphSizes()
        self.weights: dict[str, np.ndarray] = {}
        self._names: set[str] = set()
        self._shared: dict[int, Value] = {}
        self._numbers: dict[str, int] = {}
        self._symbols: KeptSymbols | None = None
        with enter_context():
            self.module = IRModule(ir.Module.create()) if module is None else module
            self.func: TensorFunc = create.graph(self.module.mlir, name, kind)
        self._outputs: list[Value] | None = None

    # --- inputs -------------------------------------------------------------------------------------------------------

    def input(self, name: str, shape: ShapeLike, dtype: str | np.dtype = "float32", weight: str | None = None) -> Value:
        """An input: a parameter of the graph, before all nodes and weights in the order of its text.

        weight: the name of the weight that it is, whose values are given later.
        """
        return self._argument(name, TensorType(self.sizes.shape(shape), checked_dtype(dtype)), weight)

    def size_range(self, name: str, least: int, greatest: int | None = None) -> None:
        """The values of a size, a name or an expression, that the graph is right for, within those that are known
        already: a model refuses inputs of others."""
        with enter_context():
            ranges = attrs.get(self.func.op, encoding.RANGES, {})
            first, last = ranges.get(name, (0, -1))
            ends = [end for end in (last, greatest) if end is not None and end >= 0]
            attrs.put(self.func.op, encoding.RANGES, {**ranges, name: [max(least, first), min(ends, default=-1)]})

    def weight(self, name: str, array: np.ndarray, dtype: str | None = None) -> Value:
        """A parameter with a value, kept as the array that it is: no copy. One array given twice is one weight.

        dtype: "bfloat16" for an array of its bits (uint16); else the element type of the array.
        """
        values = np.asarray(array)
        if dtype not in (None, values.dtype.name) and (dtype, values.dtype.name) != ("bfloat16", "uint16"):
            raise GraphError(f"weight {name} is {values.dtype.name}, not {dtype}; fix: bfloat16 as its bits in uint16")
        if name in self.weights:
            raise GraphError(f"there are two weights {name}; fix: another name")
        self.weights[name] = values
        return self._argument(name, TensorType(values.shape, checked_dtype(dtype or values.dtype)), name)

    def known_weight(self, value: Value) -> np.ndarray | None:
        """The array of a weight; None of another value."""
        with enter_context():
            number = ir.BlockArgument(value.value).arg_number if isinstance(value.value, ir.BlockArgument) else None
            name = None if number is None else self.func.weight(number)
        return None if name is None else self.weights[name]

    def constant(self, value: ArrayLike, name: str = "c") -> Value:
        """A constant in the text of the program: numbers and small arrays. Large ones are better weights."""
        array = np.asarray(value)
        checked_dtype(array.dtype)
        with enter_context(), self._symbol_scope(), self._at_end():
            return self._values(create.constant(array, self._fresh(name)))[0]

    def _argument(self, name: str, type_: TensorType, weight: str | None) -> Value:
        fresh_name = self._fresh(name)
        with enter_context():
            value = create.add_input(self.func, fresh_name, type_, weight)
        return Value(self, value, fresh_name, type_)

    # --- nodes --------------------------------------------------------------------------------------------------------

    @overload
    def op(
        self, name: Several, *inputs: Operand, name_hint: str | Sequence[str] = "lv", **attributes: Attribute | Value
    ) -> tuple[Value, ...]: ...
    @overload
    def op(
        self, name: str, *inputs: Operand, name_hint: str | Sequence[str] = "lv", **attributes: Attribute | Value
    ) -> Value: ...
    def op(
        self, name: str, *inputs: Operand, name_hint: str | Sequence[str] = "lv", **attributes: Attribute | Value
    ) -> Values:
        """A node of an operator. Returns its Value, or a tuple of Values. `name_hint`: for the result, or one for each.

        inputs: Values; numbers and arrays become constants of the type of the first Value. Raises GraphError.
        """
        operator = find_operator(name)
        given = operator.with_named(inputs, attributes)
        operands = [(v.value, v.type) for v in self._as_values(name, given)]
        with enter_context(), self._symbol_scope(), self._at_end():
            node = emit(self.module.mlir, operator, operands, attributes, self.sizes, ["lv"])
            attrs.put(node.op, encoding.NAMES, self._result_names(name_hint, node.types))
            return self._one_or_all(node)

    @overload
    def call_te(
        self, function: Callable[..., Tensor], *args: object, name_hint: str = "", **kwargs: object
    ) -> Value: ...
    @overload
    def call_te(
        self, function: Callable[..., Sequence[Tensor]], *args: object, name_hint: str = "", **kwargs: object
    ) -> tuple[Value, ...]: ...
    def call_te(
        self,
        function: Callable[..., Tensor | Sequence[Tensor]],
        *args: object,
        name_hint: str = "",
        **kwargs: object,
    ) -> Values:
        """A call of a TensorIR function that is made of a function on te tensors. Returns its Value or Values.

        args: Values become te tensors, also those in lists; the rest is passed as it is.
        """
        operands: list[Value] = []
        _collect(args, operands)
        _collect(tuple(kwargs.values()), operands)
        renamed = unbound_sizes([v.type for v in operands], [])
        name = name_hint or getattr(function, "__name__", "te").strip("<>") or "te"
        try:
            prim_func, types = self._te_program(function, args, kwargs, operands, {})
        except TirError:
            if not renamed:
                raise
            prim_func, types = self._te_program(function, args, kwargs, operands, renamed)
        return self.call_tir(prim_func, operands, types, name=name)

    def _te_program(
        self,
        function: Callable[..., Tensor | Sequence[Tensor]],
        args: Sequence[object],
        kwargs: Mapping[str, object],
        operands: Sequence[Value],
        renamed: Mapping[str, str],
    ) -> tuple[PrimFunc, list[ResultType]]:
        """The function of `call_te` and the shapes and types of its results. renamed: sizes of operands that are sizes
        of their own there."""
        types = renamed_types([v.type for v in operands], renamed)
        tensors = [self.sizes.tensor(f"x{n}", t.shape, t.dtype) for n, t in enumerate(types)]
        of_value = dict(zip(operands, tensors, strict=True))
        results = as_tensor_list(
            function(
                *(_with_tensors(a, of_value) for a in args),
                **{k: _with_tensors(v, of_value) for k, v in kwargs.items()},
            )
        )
        size_names = {new: text for text, new in renamed.items() if new.isidentifier()}
        shapes = [tuple(substitute_size(n, size_names) for n in self.sizes.shape(t.shape)) for t in results]
        prim_func = create_prim_func([*tensors, *results])
        return prim_func, [(shape, t.dtype) for shape, t in zip(shapes, results, strict=True)]

    def call_tir(
        self,
        function: PrimFunc | str,
        inputs: Sequence[Value],
        results: Sequence[ResultType],
        name: str | None = None,
        name_hint: str | Sequence[str] = "lv",
    ) -> Values:
        """A call of a TensorIR function: a PrimFunc, which is added to the module, or the name of one that it has.

        results: shape and element type of each result, the last parameters of the function; name: for the function;
        name_hint: for the result, or one for each. Returns Value or Values.
        """
        types = [TensorType(self.sizes.shape(shape), checked_dtype(dtype)) for shape, dtype in results]
        with enter_context(), self._symbol_scope():
            symbol = function if isinstance(function, str) else add_function(self.module, function, name)
        if self._program(symbol) is None:
            raise GraphError(
                f"the module has no function {symbol}; it has {', '.join(self.module.prim_funcs) or 'none'}"
            )
        values = self._as_values(symbol, inputs)
        with enter_context(), self._symbol_scope(), self._at_end():
            operands = [v.value for v in values]
            check_parameters(self.module, symbol, [*(v.type for v in values), *types])
            names = self._result_names(name_hint, types)
            return self._one_or_all(create.call_tir(self.module.mlir, symbol, operands, types, names))

    def call(self, function: str, inputs: Sequence[Value], name_hint: str | Sequence[str] = "lv") -> Values:
        """A call of another graph of the module, such as a group of operators. Returns Value or Values.

        A graph of named sizes that is called with numbers or sums of sizes is copied: `call` of MLIR takes the types of
        its callee.
        """
        values = self._as_values(function, inputs)
        with enter_context(), self._symbol_scope(), self._at_end():
            callee = called_graph(self.module, function)
            types = called_types(callee, [v.type for v in values])
            names = self._result_names(name_hint, types)
            if [v.type.mlir for v in values] != [v.type for v in callee.inputs]:
                return self._inline_copy(callee, values, names)
            return self._one_or_all(create.call(callee, [v.value for v in values], types, names))

    def _inline_copy(self, callee: TensorFunc, values: Sequence[Value], names: Sequence[str]) -> Values:
        """The results of a copy of what a graph does."""
        inputs = [(v.value, v.type) for v in values]
        copies = copy_body(self.module.mlir, callee, inputs, self.sizes, self._fresh, names)
        results = [Value(self, value, name, type_) for (value, type_), name in zip(copies, names, strict=True)]
        return results[0] if len(results) == 1 else tuple(results)

    def call_packed(
        self,
        function: str,
        inputs: Sequence[Value],
        results: Sequence[ResultType],
        name_hint: str | Sequence[str] = "lv",
    ) -> Values:
        """A call of a registered function of Python or C, which writes the results that it is given last."""
        types = [TensorType(self.sizes.shape(shape), checked_dtype(dtype)) for shape, dtype in results]
        values = self._as_values(function, inputs)
        with enter_context(), self._symbol_scope(), self._at_end():
            operands = [v.value for v in values]
            result_types = [t.mlir for t in types]
            callee = create.declare_packed(self.module.mlir, function, [v.type for v in operands], result_types)
            return self._one_or_all(create.call(callee, operands, types, self._result_names(name_hint, types)))

    @extension_point
    def branch(
        self,
        condition: Value,
        then: Region,
        otherwise: Region,
        inputs: Sequence[Value] = (),
        counted: CountedOf | None = None,
        name_hint: str | Sequence[str] = "lv",
    ) -> Values:
        """What one of two functions computes: only that one runs. Returns its Value or Values.

            y = b.branch(p, lambda r: r.op("exp", x), lambda r: r.op("negative", x))

        condition: one bool. then, otherwise: functions of a builder, and of `inputs` there, which also read the values
        of this graph; their results have the same types. counted: of results, by their numbers, an axis whose size the
        side that runs decides on, and the new name of that size, as of `first_rows`; or a function of the results of
        both sides that returns this. Errors: GraphError.
        """
        ...

    @extension_point
    def loop(
        self,
        body: Region,
        carried: Sequence[Value],
        scanned: Sequence[Value] = (),
        steps: int | str | Value | None = None,
        condition: Value | None = None,
        backward: bool = False,
        name_hint: str | Sequence[str] = "lv",
    ) -> Values:
        """A loop. Returns the Value or Values that it carries, then the tensors that its rows become.

            total, sums = b.loop(lambda r, step, s, row: [r.op("add", s, row)] * 2, [zero], [x])

        body: a function of a builder, the number of the step (an int64 of no dimensions), what is carried, and a row of
        each tensor in `scanned`, of axis 0. It returns what is carried next, of the same types, then rows of results.
        steps: their number, a size or a Value; default: the rows of what is scanned. condition: one bool, which is
        tested before each step; the body returns the next one first. backward: rows from the last to the first.
        Errors: GraphError.
        """
        ...

    def control(
        self,
        regions: Sequence[str],
        inputs: Sequence[Value],
        results: Sequence[ResultType],
        loop: LoopFacts | None = None,
        name_hint: str | Sequence[str] = "lv",
    ) -> Values:
        """A branch or a loop of regions that the module has, see `LoopFacts`. results: shapes and element types."""
        types = [TensorType(self.sizes.shape(shape), checked_dtype(dtype)) for shape, dtype in results]
        values = self._as_values("a branch or a loop", inputs)
        with enter_context(), self._symbol_scope(), self._at_end():
            check_regions(self.module.mlir, regions, [v.type for v in values], types, loop)
            operand_types, result_types = [v.value.type for v in values], [t.mlir for t in types]
            word = "branch" if loop is None else "loop"
            op = control(self.module.mlir, word, regions, operand_types, result_types, loop)
            names = self._result_names(name_hint, types)
            return self._one_or_all(create.call(op, [v.value for v in values], types, names))

    # --- the end ------------------------------------------------------------------------------------------------------

    def output(self, *values: Value, checks: Mapping[str, Value] | None = None, nones: Sequence[int] = ()) -> None:
        """What the graph returns, in order. checks: tensors of one bool that a model looks at after each call, by the
        text of the error where it is false. nones: the positions among all results where a model returns None."""
        checked = self._as_values("the result", values)
        vector = self._joined_checks(list((checks or {}).values()))
        self._outputs = checked
        with enter_context(), self._symbol_scope():
            counts = self._counts([v.type for v in checked])
            if counts and self.func.kind == encoding.REGION:
                raise GraphError(
                    f"a branch or a loop returns a tensor whose size {next(iter(counts))} data in it decide on; "
                    "fix: name it in counted= of the branch; of a loop return all rows and the count, and first_rows "
                    "outside of it"
                )
            create.set_outputs(self.func, [*(v.value for v in checked), *counts.values(), *(v.value for v in vector)])
            for key, value in ((encoding.CHECKS, list(checks or ())), (encoding.NONES, list(nones))):
                if value:
                    attrs.put(self.func.op, key, value)
            if counts:
                numbers = {name: len(checked) + n for n, name in enumerate(counts)}
                attrs.put(self.func.op, encoding.COUNTS, numbers)

    def _joined_checks(self, checks: Sequence[Value]) -> list[Value]:
        """A vector of all checks; nothing where there are none."""
        parts = [self.op("reshape", check, shape=(1,)) for check in checks]
        return [self.op("concat", *parts, axis=0) if len(parts) > 1 else parts[0]] if parts else []

    def _counts(self, types: Sequence[TensorType]) -> dict[str, ir.Value]:
        """The sizes in some types that data decide on, by name: a model cuts its results by them."""
        count_of = {n.types[0].shape[0]: n.inputs[1] for n in self._counted_nodes()}
        names = {name for type_ in types for size in type_.shape for name in symbols(size)}
        return {str(name): value for name, value in count_of.items() if name in names}

    def counted_sizes(self) -> dict[str, int | str]:
        """The sizes of this graph that data decide on, each with the greatest one that it may be."""
        with enter_context():
            return {str(n.types[0].shape[0]): self.func.type_of(n.inputs[0]).shape[0] for n in self._counted_nodes()}

    def _counted_nodes(self) -> list[Node]:
        return [n for n in self.func.nodes if kind_of(n.operator) is OperatorKind.COUNTED]

    def donate(self, value: Value, result: int) -> None:
        """Let the result of this number, of the type of an input, take its memory: a model writes the new state where
        the old one is, and returns that array. Errors: GraphError for a value that is not an input of that type."""
        outputs = self._outputs or []
        with enter_context():
            is_input = node_of(value.value) is None and value.builder is self
            if not is_input or not 0 <= result < len(outputs) or outputs[result].type != value.type:
                raise GraphError(
                    f"{value.name} is not an input of the type of result {result}; fix: donate(input, number)"
                )
            donated = attrs.get(self.func.op, encoding.DONATED, {})
            attrs.put(self.func.op, encoding.DONATED, {**donated, value.name: result})

    def finish(self) -> Graph:
        """The graph. Raises GraphError without `output`, or for a module that MLIR does not accept."""
        if self._outputs is None:
            raise GraphError(f"the graph {self.func.name} returns nothing; fix: output(...) before finish()")
        with enter_context():
            self.module.mlir.operation.verify()
            return Graph(self.module, self.weights, self.func.name)

    # --- helpers ------------------------------------------------------------------------------------------------------

    def _symbol_scope(self) -> KeptSymbols:
        """The symbols of the module, read again where others added or erased functions since the last call."""
        if self._symbols is None or not self._symbols.is_of(self.module.mlir):
            self._symbols = symbols_kept(self.module.mlir)
        return self._symbols

    def _program(self, name: str) -> PrimFunc | None:
        """The TensorIR function of a name; None if there is none."""
        with enter_context(), self._symbol_scope():
            op = symbol_of(self.module.mlir, name)
            return PrimFunc(self.module, name) if op is not None and is_program(op) else None

    def _at_end(self) -> ir.InsertionPoint:
        return tir_create.at_end(self.func.body)

    def _result_names(self, hint: str | Sequence[str], types: Sequence[TensorType]) -> list[str]:
        """A fresh name for each result."""
        return [self._fresh(hint if isinstance(hint, str) else hint[n]) for n in range(len(types))]

    def _fresh(self, hint: str) -> str:
        number = self._numbers.get(hint, 0)
        while (name := f"{hint}_{number}" if number else hint) in self._names:
            number += 1
        self._numbers[hint] = number  # the names before it remain taken
        self._names.add(name)
        return name

    def _as_values(self, what: str, operands: Sequence[object]) -> list[Value]:
        first = next((g for g in operands if isinstance(g, Value)), None)
        values = []
        for number, operand in enumerate(operands):
            if isinstance(operand, Value):
                if operand.builder is not self:
                    raise GraphError(f"operand {number} of {what} is of another graph: {operand.name}")
                values.append(operand)
            elif isinstance(operand, (bool, int, float, np.generic, np.ndarray)):
                dtype = first.dtype if first is not None and not hasattr(operand, "dtype") else None
                values.append(self.constant(np.asarray(operand, dtype)))
            else:
                raise GraphError(
                    f"operand {number} of {what} is a Value, a number or an array, not {short_repr(operand)}"
                )
        return values

    def _values(self, node: Node) -> list[Value]:
        return [Value(self, r, n, t) for r, n, t in zip(node.results, node.names, node.types, strict=True)]

    def _one_or_all(self, node: Node) -> Values:
        values = self._values(node)
        return values[0] if len(values) == 1 else tuple(values)


def value_list(values: Value | Sequence[Value]) -> list[Value]:
    """What a node or a function makes: one value or several."""
    return list(values) if isinstance(values, Sequence) else [values]


def _collect(argument: object, found: list[Value]) -> None:
    """The Values in an argument that were not found before."""
    if isinstance(argument, (list, tuple)):
        for element in argument:
            _collect(element, found)
    elif isinstance(argument, Value) and argument not in found:
        found.append(argument)


def _with_tensors(argument: object, tensors: Mapping[Value, Tensor]) -> object:
    """An argument with te tensors instead of its Values."""
    if isinstance(argument, (list, tuple)):
        return type(argument)(_with_tensors(element, tensors) for element in argument)
    if isinstance(argument, dict):
        return {name: _with_tensors(value, tensors) for name, value in argument.items()}
    return tensors[argument] if isinstance(argument, Value) else argument


def add_function(module: IRModule, function: PrimFunc, name: str | None = None) -> str:
    """Copy a TensorIR function into a module, or find the same one there. Returns its name."""
    base_name = name or str(function.attrs.get("global_symbol", function.name))
    with enter_context():
        programs, content = _programs(module, base_name), _content(function)
        for existing in programs.get(content, ()):
            if existing.startswith(base_name) and module[existing].equal(function):
                return existing
        symbol = create.fresh_symbol(module.mlir, base_name)
        copy_function(module.mlir, function, symbol)
        if (symbols := kept_symbols(module.mlir.operation)) is not None:
            programs.setdefault(content, []).append(symbol)
            symbols.programs = programs
    return symbol


def _programs(module: IRModule, base_name: str) -> dict[str, list[str]]:
    """The names of the TensorIR functions of a module by content, in order: of all, read once, where its symbols are
    kept; else of those whose names begin so."""
    symbols = kept_symbols(module.mlir.operation)
    if symbols is not None and symbols.programs is not None:
        return symbols.programs
    programs: dict[str, list[str]] = {}
    for existing in module.prim_funcs.values():
        if symbols is not None or existing.name.startswith(base_name):
            programs.setdefault(_content(existing), []).append(existing.name)
    return programs


def _content(function: PrimFunc) -> str:
    """Text that is equal for functions that are equal but for their names."""
    return canonical(IRModule({"main": function}).mlir)

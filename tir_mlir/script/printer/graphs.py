"""Printing of graphs of operators: `@R.function`, one dataflow block, one line a node."""

from __future__ import annotations

import ast
import base64
from collections.abc import Sequence

import numpy as np
from mlir import ir

from tir_mlir.dialect.constants.dense import dense_array
from tir_mlir.dialect.graph import Node, TensorFunc, TensorType, encoding
from tir_mlir.dialect.ir import attrs
from tir_mlir.extensions import extension_point
from tir_mlir.script.printer.expression_text import ScriptWriter, annotation, quote, sequence
from tir_mlir.script.printer.print_options import Options
from tir_mlir.script.printer.value_names import ValueNames

MOST_ELEMENTS = 1024
"""Larger constants are printed as references to the metadata."""
MOST_COLUMNS = 100
"""Longer signatures have a line for each parameter."""
RESERVED = frozenset({"R", "cls", "metadata"})
"""What the text of a graph has a meaning for: the operators, the functions of the module, and large constants."""
WEIGHTS = "weights"
"""The function attribute that says which parameters are weights, and their names."""
REGION = "region"
"""The attribute of a function that a branch or a loop runs."""


@extension_point
def show_operands(operator: str | None, operands: Sequence[str]) -> list[str]:
    """The operands of an operator as a call shows them: those of any number in a tuple."""
    ...


class Metadata:
    """The large constants of a module, which `show_meta=True` prints after it."""

    def __init__(self) -> None:
        self.constants: list[np.ndarray] = []

    def add(self, array: np.ndarray) -> str:
        """The text of a constant that is kept here."""
        self.constants.append(array)
        return f"metadata[{quote('relax.expr.Constant')}][{len(self.constants) - 1}]"

    def write(self, writer: ScriptWriter) -> None:
        """`metadata = {...}`, which the program above it uses; the elements as base64."""
        if not self.constants:
            return
        writer.line("")
        writer.line(f"metadata = {{{quote('relax.expr.Constant')}: [")
        with writer.indent():
            for array in self.constants:
                data = base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()
                writer.line(f"R.const_of_bytes({quote(data)}, {sequence([str(n) for n in array.shape])}, ")
                writer.lines[-1] += f"{quote(str(array.dtype))}),"
        writer.line("]}")


class GraphPrinter:
    """Writes one graph, or one group of operators."""

    def __init__(self, func: TensorFunc, writer: ScriptWriter, options: Options, metadata: Metadata):
        self.func = func
        self.writer = writer
        self.options = options
        self.metadata = metadata
        self.names = ValueNames(options.anonymous, RESERVED)
        self.constants: dict[ir.Value, str] = {}  # they are printed where they are used
        for size in _size_names(func):  # they keep their own names
            self.names.fresh(size)

    def write(self) -> None:
        func = self.func
        private = func.kind in (encoding.GROUP, encoding.REGION) and self.options.symbols
        self.writer.line(f"@R.function{'(private=True)' if private else ''}")
        params = [self._parameter(n, value) for n, value in enumerate(func.inputs)]
        types = [tensor(func.type_of(v), signature=True) for v in func.outputs]
        result = f"R.Tuple({', '.join(types)})" if func.returns_tuple else types[0]
        name = self.options.function(func.name)
        if len(name) + sum(map(len, params)) + len(result) < MOST_COLUMNS:
            self.writer.line(f"def {name}({', '.join(params)}) -> {result}:")
        else:
            self.writer.line(f"def {name}(")
            with self.writer.indent():
                for param in params:
                    self.writer.line(f"{param},")
            self.writer.line(f") -> {result}:")
        with self.writer.indent():
            self._sizes()
            self._attributes()
            self._body()

    def _parameter(self, number: int, value: ir.Value) -> str:
        name = self.names.bind(value, self.func.input_name(number), "x")
        return f"{name}: {tensor(self.func.input_type(number), signature=True)}"

    def _sizes(self) -> None:
        for name in _size_names(self.func):
            self.writer.line(f"{name} = T.int64()")

    def _attributes(self) -> None:
        func = self.func
        attributes = {k: v for k, v in func.attributes.items() if k != "global_symbol" or self.options.symbols}
        owner = attrs.get(func.op, encoding.OF)
        if owner is not None:  # it computes the weights of another graph
            attributes |= {encoding.OF: owner, encoding.DERIVES: attrs.get(func.op, encoding.DERIVES)}
        named = [func.weight(n) if owner is None else func.input_name(n) for n in range(len(func.inputs))]
        weights = {self.names.get(v): w for v, w in zip(func.inputs, named, strict=True) if w is not None}
        if weights:
            attributes[WEIGHTS] = weights
        if func.kind == encoding.REGION:
            attributes[REGION] = 1
        if attributes:
            self.writer.line(f"R.func_attr({annotation(attributes, typed_bools=False)})")

    def _body(self) -> None:
        nodes = self.func.nodes
        outputs = self.func.outputs
        for node in nodes:
            if node.kind == "constant":
                self.constants[node.results[0]] = self._constant(node)
        nodes = [node for node in nodes if node.kind != "constant"]
        if nodes:
            self.writer.line("with R.dataflow():")
            with self.writer.indent():
                for node in nodes:
                    self._node(node)
                computed = [v for v in outputs if not isinstance(v, ir.BlockArgument) and v not in self.constants]
                self.writer.line(f"R.output({', '.join(dict.fromkeys(map(self._name, computed)))})")
        results = list(map(self._name, outputs))
        self.writer.line(f"return {sequence(results) if self.func.returns_tuple else results[0]}")

    def _name(self, value: ir.Value) -> str:
        return self.constants.get(value) or self.names.get(value) or "?"

    def _node(self, node: Node) -> None:
        text, types = self._expression(node), node.types
        if len(types) == 1:
            name = self.names.bind(node.results[0], node.names[0], "lv")
            self.writer.line(f"{name}: {tensor(types[0])} = {text}")
            return
        tuple_name = self.names.fresh(f"{node.names[0]}_tuple", "lv")
        self.writer.line(f"{tuple_name}: R.Tuple({', '.join(map(tensor, types))}) = {text}")
        for number, (value, name, type_) in enumerate(zip(node.results, node.names, types, strict=True)):
            bound = self.names.bind(value, name, "lv")
            self.writer.line(f"{bound}: {tensor(type_)} = {tuple_name}[{number}]")

    def _expression(self, node: Node) -> str:
        inputs = [self._name(v) for v in node.inputs]
        if node.kind == encoding.OPERATOR:
            keywords = [f"{k}={_attribute(v)}" for k, v in node.attributes.items()]
            operands = show_operands(node.operator, inputs)
            return f"R.{node.operator}({', '.join([*operands, *keywords])})"
        callee = node.callee
        assert callee is not None
        if callee.is_graph:
            return f"cls.{self.options.function(callee.name)}({', '.join(inputs)})"
        out = [tensor(t) for t in node.types]
        types = out[0] if len(out) == 1 else f"[{', '.join(out)}]"
        if callee.is_control:
            return self._control(callee, inputs, types)
        if node.kind == encoding.CALL_TIR:
            program = self.options.function(callee.callee)
            return f"R.call_tir(cls.{program}, {sequence(inputs)}, out_sinfo={types})"
        return f"R.call_dps_packed({quote(callee.callee)}, {sequence(inputs)}, out_sinfo={types})"

    def _control(self, callee: TensorFunc, inputs: list[str], types: str) -> str:
        """R.branch(p, cls.then, cls.otherwise, (x,), ...), R.loop(cls.body, (x,), carried=1, ...)"""
        regions = ", ".join(f"cls.{self.options.function(region.name)}" for region in callee.regions)
        if callee.kind == encoding.BRANCH:
            return f"R.branch({inputs[0]}, {regions}, {sequence(inputs[1:])}, out_sinfo={types})"
        facts = attrs.get(callee.op, encoding.ATTRS)
        words = [f"{k}={v if isinstance(v, bool) else _attribute(v)}" for k, v in facts.items()]
        return f"R.loop({regions}, {sequence(inputs)}, {', '.join(words)}, out_sinfo={types})"

    def _constant(self, node: Node) -> str:
        array = constant_array(node)
        if array.size > MOST_ELEMENTS:
            if self.options.canonical_units:  # compared, not read
                return f"R.const({array.tobytes().hex()}, {quote(str(array.dtype))})"
            return self.metadata.add(array)
        return f"R.const({_numbers(array.tolist())}, {quote(str(array.dtype))})"


def constant_array(node: Node) -> np.ndarray:
    """The value of a constant, as an array that may be written to. Errors: KeyError for bfloat16, NumPy has none."""
    dtype = node.types[0].dtype
    if dtype not in np.sctypeDict:
        raise KeyError(dtype)
    return dense_array(node.constant).view(dtype)


def tensor(type_: TensorType, signature: bool = False) -> str:
    """`R.Tensor((n, 784), dtype="float32")`; in a signature the sizes are strings."""
    sizes = [quote(s) if signature and isinstance(s, str) else str(s) for s in type_.shape]
    return f"R.Tensor({sequence(sizes)}, dtype={quote(type_.dtype)})"


def _numbers(value: object) -> str:
    """Nested lists of numbers; those that are not finite are strings."""
    if isinstance(value, list):
        return f"[{', '.join(map(_numbers, value))}]"
    return quote(str(value)) if isinstance(value, float) and not np.isfinite(value) else repr(value)


def _attribute(value: object) -> str:
    """An attribute of an operator; text in a sequence is a size, and so is {"size": text}."""
    if isinstance(value, dict):
        return str(next(iter(value.values())))
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(v if isinstance(v, str) else _attribute(v) for v in value)}]"
    return annotation(value, typed_bools=False)


def _size_names(func: TensorFunc) -> list[str]:
    """The named sizes of a graph, in order."""
    types = [func.input_type(n) for n in range(len(func.inputs))] + [t for node in func.nodes for t in node.types]
    names: dict[str, None] = {}
    for size in (s for t in types for s in t.shape if isinstance(s, str)):
        names.update((n.id, None) for n in ast.walk(ast.parse(size, mode="eval")) if isinstance(n, ast.Name))
    return list(names)

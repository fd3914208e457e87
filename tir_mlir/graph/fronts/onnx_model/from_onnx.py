"""`from_onnx`: a model of ONNX as a graph."""

from __future__ import annotations

import graphlib
import inspect
import keyword
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tir_mlir.dialect.diagnostics import GraphError, TirError, short_repr
from tir_mlir.dialect.graph import free_name
from tir_mlir.graph.builder import GraphBuilder
from tir_mlir.graph.fronts.onnx_model import translations
from tir_mlir.graph.fronts.onnx_model.onnx_emitter import OnnxEmitter
from tir_mlir.graph.fronts.onnx_model.onnx_tensors import array_of
from tir_mlir.graph.fronts.refusals import Refusals
from tir_mlir.graph.size_code import checked_dtype
from tir_mlir.runtime.progress import followed

_FIX = 'from_onnx(..., ops={{"{op}": f}}), where f makes te tensors of te tensors and attributes'
_FIT = "\n  fix: inputs and attributes as ONNX defines them for the operator"


def from_onnx(model: Any, *, ops: Mapping[str, Callable[..., Any]] | None = None, name: str = "main") -> Any:
    """Translate a model of ONNX to a Graph with the model's weights.

        graph = tir_mlir.from_onnx("model.onnx")

    model: a ModelProto, or the path of its file. Its inputs without initializers are inputs of the graph, its
    initializers are weights by their names, and a dimension with a name (dim_param) is a size of that name. Functions
    of the model are inlined. ops: the meaning of operators by their type, {"MyOp": f}: f takes te tensors and the
    attributes by name, and returns a te tensor or several; it comes before what is known.
    Raises GraphError that names all operators it does not know, each with its node.
    """
    import onnx

    with followed("import of a model"):
        proto = model if isinstance(model, onnx.ModelProto) else _read(model)
        if proto.functions:
            from onnx import inliner

            proto = inliner.inline_local_functions(proto)
        return _OnnxImporter(GraphBuilder(name), proto, dict(ops or {})).graph()


def _read(path: Any) -> Any:
    import onnx
    from google.protobuf.message import DecodeError

    try:
        return onnx.load(path)
    except (OSError, TypeError, ValueError) as error:
        raise GraphError(f"from_onnx: cannot read {short_repr(path)}: {error}") from error
    except DecodeError as error:
        raise GraphError(f"from_onnx: {short_repr(path)} is no model of ONNX: {error}") from error


class _OnnxImporter:
    """One import: `graph()` is its result."""

    def __init__(self, builder: Any, proto: Any, ops: Mapping[str, Callable[..., Any]]):
        versions = {o.domain: o.version for o in proto.opset_import}
        self.builder, self.proto, self.ops = builder, proto, ops
        self.emitter = OnnxEmitter(builder, versions.get("", versions.get("ai.onnx", 1)))
        self.refusals, self.translations = Refusals(), translations()
        self.values: dict[str, Any] = {"": None}
        self.dimensions: dict[str, str] = {}  # the names of sizes, by those in the file

    def graph(self) -> Any:
        """The Graph, or GraphError that tells all that cannot be translated."""
        graph = self.proto.graph
        check_graph(graph)
        for initializer in graph.initializer:
            array = self.values[initializer.name] = self._initializer(initializer)
            if array.ndim:
                self.emitter.names[id(array)] = initializer.name
        for value_info in graph.input:
            if value_info.name not in self.values:
                self.values[value_info.name] = self._input(value_info)
        self.emitter.used = used_names(graph)
        for node in sorted_nodes(graph):
            self._node(node)
        self.refusals.check("from_onnx", _FIX)
        self.builder.output(*(self.emitter.value(self.values[result.name]) for result in graph.output))
        return self.builder.finish()

    def _initializer(self, tensor: Any) -> Any:
        try:
            return array_of(tensor)
        except GraphError as error:
            raise GraphError(f"from_onnx: {error}") from error

    def _input(self, value_info: Any) -> Any:
        name, tensor = value_info.name, value_info.type.tensor_type
        if not value_info.type.HasField("tensor_type") or not tensor.HasField("shape"):
            raise GraphError(f"from_onnx: input {name} is no tensor of known rank\n  fix: set its shape")
        shape = [
            d.dim_value if d.HasField("dim_value") else self._dimension(d.dim_param or f"{name}_{n}")
            for n, d in enumerate(tensor.shape.dim)
        ]
        if negative := [size for size in shape if isinstance(size, int) and size < 0]:
            raise GraphError(f"from_onnx: the input {name} has the size {negative[0]}\n  fix: a number from 0 on")
        self.emitter.inputs.append(self.builder.input(name, shape, _input_dtype(name, tensor.elem_type)))
        return self.emitter.inputs[-1]

    def _dimension(self, name: str) -> str:
        """The size of a dim_param: different names are different sizes, also where one identifier is near to both."""
        if name not in self.dimensions:
            self.dimensions[name] = free_name(_identifier(name), self.dimensions.values())
        return self.dimensions[name]

    def _node(self, node: Any) -> None:
        """Translate a node: its results become values; of those that it does not compute, used ones are refused."""
        operands = [self.values.get(name, _UNDEFINED) for name in node.input]
        results: Any = [_REFUSED] * len(node.output)
        if not any(x is _REFUSED for x in operands):
            try:
                results = self._translated(node, operands)
            except TirError as error:
                self._refuse(node, str(error))
            except (ArithmeticError, LookupError, TypeError, ValueError) as error:
                if node.op_type in self.ops:  # the error is in the user's function
                    raise
                self._refuse(node, f"its inputs and attributes do not fit: {type(error).__name__}: {error}{_FIT}")
        results = list(results) if isinstance(results, (list, tuple)) else [results]
        for number, name in enumerate(node.output):
            if number >= len(results) and name in self.emitter.used:
                output_name = result_name(node, number, self.emitter.opset)
                self._refuse(node, f"its output {output_name} is not computed\n  fix: a model that does not use it")
            if name:
                self.values[name] = results[number] if number < len(results) else _REFUSED

    def _refuse(self, node: Any, reason: str) -> None:
        self.refusals.add(node.op_type, node_name(node), "", reason)

    def _translated(self, node: Any, operands: list[Any]) -> Any:
        import onnx

        if undefined := [name for name, x in zip(node.input, operands, strict=True) if x is _UNDEFINED]:
            raise GraphError(
                f"its input {undefined[0]} is no input, initializer or result of a node\n  fix: define it in the model"
            )
        if node.op_type not in self.ops and (
            node.op_type not in self.translations or node.domain not in ("", "ai.onnx")
        ):
            raise GraphError(reason(node.op_type, node.domain))
        self.emitter.name, self.emitter.results = _identifier(node_name(node)), list(node.output)
        if node.op_type in self.ops:
            attrs = {a.name: _plain(onnx.helper.get_attribute_value(a)) for a in node.attribute}
            args = [self.emitter.value(x) for x in operands if x is not None]
            return self.builder.call_te(self.ops[node.op_type], *args, **attrs)
        check_node(node, self.emitter.opset)
        attrs = {a.name: _plain(onnx.helper.get_attribute_value(a)) for a in node.attribute}
        function = self.translations[node.op_type]
        parameters = inspect.signature(function).parameters
        if not any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
            unknown = [name for name in attrs if name not in parameters]
            if unknown:
                raise GraphError(f"{unknown[0]}={attrs[unknown[0]]} is not supported")
        return function(self.emitter, *operands, **attrs)


def _input_dtype(name: str, elem_type: int) -> str:
    """The element type of an input. Errors: GraphError for those that graphs do not have."""
    import onnx

    kinds = onnx.TensorProto.DataType
    kind = kinds.Name(elem_type).lower() if elem_type in kinds.values() else f"of type {elem_type}"
    try:
        return checked_dtype(onnx.helper.tensor_dtype_to_np_dtype(elem_type).name)
    except (GraphError, KeyError):
        raise GraphError(
            f"from_onnx: the input {name} is {kind}, which graphs do not have\n"
            "  fix: export the model with another type; of complex numbers with both parts as tensors"
        ) from None


_UNDEFINED = object()
"""The value of a name that nothing defines."""

_REFUSED = object()
"""The value of a node that was refused, and of those that need it."""


def _plain(value: Any) -> Any:
    """An attribute as Python's own: text, numbers, lists."""
    if isinstance(value, bytes):
        return value.decode()
    return list(value) if isinstance(value, (tuple, list)) or type(value).__name__.startswith("Repeated") else value


def _identifier(name: str) -> str:
    """A name of letters, digits and underscores, no word of Python: "batch size" -> "batch_size", "for" -> "for_"."""
    word = re.sub(r"[^A-Za-z0-9_]", "_", name)
    word = f"{word}_" if keyword.iskeyword(word) else word
    return word if word[:1].isalpha() or word[:1] == "_" else f"_{word}"


_EXPORT = "\n  fix: export the model again; the file is damaged"


def node_name(node: Any) -> str:
    """The name of a node for messages: its own, that of its first output, or its operator."""
    return node.name or next(filter(None, node.output), node.op_type)


def check_graph(graph: Any) -> None:
    """Refuse a graph without outputs, or one that defines a name twice or returns a name that nobody defines."""
    if not graph.output:
        what = "has no graph" if not graph.ByteSize() else "returns nothing"
        raise GraphError(f"from_onnx: the model {what}\n  fix: a file with a graph that has outputs")
    definers: dict[str, str] = {}
    for kind, names in (("the inputs", [x.name for x in graph.input]), ("the initializers", _initializers(graph))):
        for number, name in enumerate(names):
            if name in names[:number]:
                raise GraphError(f"from_onnx: {kind} have the name {name} twice{_EXPORT}")
            definers[name] = f"{kind[4:-1]} {name}"
    for node, name in _results(graph):
        if name in definers:
            raise GraphError(f"from_onnx: the {definers[name]} and the node {node_name(node)} define {name}{_EXPORT}")
        definers[name] = f"node {node_name(node)}"
    if undefined := [result.name for result in graph.output if result.name not in definers]:
        raise GraphError(
            f"from_onnx: the output {undefined[0]} is no input, initializer or result of a node\n"
            "  fix: name a result of the graph"
        )


def sorted_nodes(graph: Any) -> list[Any]:
    """The nodes, each behind those whose results it takes; in the order of the file where that is such an order.

    Errors: GraphError for nodes that need each other's results.
    """
    nodes = list(graph.node)
    definers = {name: n for n, node in enumerate(nodes) for name in node.output if name}
    needs = {n: {definers[x] for x in node.input if x in definers} for n, node in enumerate(nodes)}
    if all(producer < n for n, producers in needs.items() for producer in producers):
        return nodes
    try:
        return [nodes[n] for n in graphlib.TopologicalSorter(needs).static_order()]
    except graphlib.CycleError as error:
        cycle = " -> ".join(node_name(nodes[n]) for n in error.args[1])
        raise GraphError(f"from_onnx: the nodes {cycle} take each other's results{_EXPORT}") from None


def used_names(graph: Any) -> set[str]:
    """The values that a node takes or the graph returns."""
    return ({name for node in graph.node for name in node.input} | {result.name for result in graph.output}) - {""}


def check_node(node: Any, version: int) -> None:
    """Refuse a node whose numbers of inputs and outputs, or whose attributes, are not those of its operator.

    version: of ONNX's operators. Errors: GraphError; an operator that ONNX does not define is let through.
    """
    import onnx

    if node.domain or not onnx.defs.has(node.op_type, version, ""):
        return
    schema = onnx.defs.get_schema(node.op_type, version, "")
    for what, count, least, most in (
        ("inputs", len(node.input), schema.min_input, schema.max_input),
        ("outputs", len(node.output), schema.min_output, schema.max_output),
    ):
        if not least <= count <= most:
            numbers = str(least) if least == most else f"{least} to {most}" if most < 2**31 - 1 else f"{least} or more"
            raise GraphError(f"the number of its {what} is {count}, and {numbers} is needed{_EXPORT}")
    _check_attributes(node, schema)


def _check_attributes(node: Any, schema: Any) -> None:
    import onnx

    types = {a.name: a.type for a in node.attribute}
    for name, attribute in schema.attributes.items():
        if name not in types:
            if attribute.required:
                raise GraphError(f"it lacks the attribute {name}{_EXPORT}")
        elif types[name] not in (onnx.AttributeProto.UNDEFINED, attribute.type.value):
            kind = onnx.AttributeProto.AttributeType.Name(types[name]).lower()
            raise GraphError(f"its attribute {name} is {kind}, not {attribute.type.name.lower()}{_EXPORT}")


def result_name(node: Any, number: int, version: int) -> str:
    """An output of a node for messages: its name in the file, and the one that ONNX gives it."""
    import onnx

    if node.domain or not onnx.defs.has(node.op_type, version, ""):
        return node.output[number]
    results = onnx.defs.get_schema(node.op_type, version, "").outputs
    return f"{node.output[number]} ({results[min(number, len(results) - 1)].name})"


def _initializers(graph: Any) -> list[str]:
    return [x.name for x in graph.initializer]


def _results(graph: Any) -> Iterator[tuple[Any, str]]:
    return ((node, name) for node in graph.node for name in node.output if name)


_BRANCH = "control flow on data: a graph is one block\n  fix: export the model with Where of both results"
_LOOP = "a loop on data: a graph is one block\n  fix: export the model with the loop unrolled"
_RANDOM = "it draws random numbers, and a graph has none\n  fix: make them an input of the model"
_SIZE = "its result has a size that depends on data\n  fix: export the model with a mask, and Where"
_SEQUENCE = "a sequence is no tensor\n  fix: export the model with tensors, joined by Concat"
_REASONS = {
    r"If": _BRANCH,
    r"Loop|Scan": _LOOP,
    r"Random\w+|Multinomial|Bernoulli": _RANDOM,
    r"NonZero|Unique|Compress|NonMaxSuppression": _SIZE,
    r"Sequence\w+|ConcatFromSequence|SplitToSequence|Optional\w*": _SEQUENCE,
}


def reason(op_type: str, domain: str) -> str:
    """What to tell of an operator without a translation."""
    if domain not in ("", "ai.onnx"):
        return f"it is not known (domain {domain})"
    return next((why for names, why in _REASONS.items() if re.fullmatch(names, op_type)), "it is not known")

"""`from_onnx`: a model of ONNX as a graph."""

from __future__ import annotations

import inspect
import keyword
import re
from collections.abc import Callable, Mapping
from typing import Any

from tir_mlir.dialect.diagnostics import GraphError, TirError, short_repr
from tir_mlir.dialect.graph import free_name
from tir_mlir.graph.builder import GraphBuilder
from tir_mlir.graph.fronts.onnx_model import onnx_elementwise, onnx_layers, onnx_shapes
from tir_mlir.graph.fronts.onnx_model.onnx_emitter import OnnxEmitter, translations
from tir_mlir.graph.fronts.onnx_model.onnx_refusals import reason
from tir_mlir.graph.fronts.onnx_model.onnx_structure import (
    check_graph,
    check_node,
    node_name,
    result_name,
    sorted_nodes,
    used_names,
)
from tir_mlir.graph.fronts.onnx_model.onnx_tensors import array_of
from tir_mlir.graph.fronts.refusals import Refusals
from tir_mlir.graph.sizes import checked_dtype

FAMILIES = (onnx_elementwise, onnx_layers, onnx_shapes)
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
                told = result_name(node, number, self.emitter.opset)
                self._refuse(node, f"its output {told} is not computed\n  fix: a model that does not use it")
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

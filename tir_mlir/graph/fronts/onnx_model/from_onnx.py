"""`from_onnx`: a model of ONNX as a graph."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any

from tir_mlir.dialect.diagnostics import GraphError, TirError, short_repr
from tir_mlir.graph.builder import GraphBuilder
from tir_mlir.graph.fronts.onnx_model import onnx_elementwise, onnx_layers, onnx_shapes
from tir_mlir.graph.fronts.onnx_model.onnx_emitter import TABLE, OnnxEmitter
from tir_mlir.graph.fronts.onnx_model.onnx_refusals import reason
from tir_mlir.graph.fronts.refusals import Refusals
from tir_mlir.graph.sizes import checked_dtype

FAMILIES = (onnx_elementwise, onnx_layers, onnx_shapes)
_FIX = 'from_onnx(..., ops={{"{op}": f}}), where f makes te tensors of te tensors and attributes'


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

    def __init__(self, builder: Any, proto: Any, given: Mapping[str, Callable[..., Any]]):
        versions = {o.domain: o.version for o in proto.opset_import}
        self.builder, self.proto, self.given = builder, proto, given
        self.emitter = OnnxEmitter(builder, versions.get("", versions.get("ai.onnx", 1)))
        self.refusals = Refusals()
        self.values: dict[str, Any] = {"": None}

    def graph(self) -> Any:
        """The Graph, or GraphError that tells all that is not known."""
        import onnx

        graph = self.proto.graph
        for initializer in graph.initializer:
            array = onnx.numpy_helper.to_array(initializer)
            self.values[initializer.name] = array
            if array.ndim:
                self.emitter.names[id(array)] = initializer.name
        for given in graph.input:
            if given.name not in self.values:
                self.values[given.name] = self._input(given)
        for node in graph.node:
            self._node(node)
        self.refusals.check("from_onnx", _FIX)
        self.builder.output(*(self.emitter.value(self.values[result.name]) for result in graph.output))
        return self.builder.finish()

    def _input(self, given: Any) -> Any:
        import onnx

        tensor = given.type.tensor_type
        if not given.type.HasField("tensor_type") or not tensor.HasField("shape"):
            raise GraphError(f"from_onnx: input {given.name} is no tensor of known rank\n  fix: set its shape")
        shape = [
            d.dim_value if d.HasField("dim_value") else _identifier(d.dim_param or f"{given.name}_{n}")
            for n, d in enumerate(tensor.shape.dim)
        ]
        dtype = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type).name
        try:
            checked_dtype(dtype)
        except GraphError:
            kind = onnx.TensorProto.DataType.Name(tensor.elem_type).lower()
            raise GraphError(
                f"from_onnx: the input {given.name} is {kind}, which graphs do not have\n"
                "  fix: export the model with another type; of complex numbers with both parts as tensors"
            ) from None
        made = self.builder.input(given.name, shape, dtype)
        self.emitter.inputs.append(made)
        return made

    def _node(self, node: Any) -> None:
        inputs = [self.values.get(name, _REFUSED) for name in node.input]
        found: Any = [_REFUSED] * len(node.output)
        if not any(x is _REFUSED for x in inputs):
            try:
                found = self._translated(node, inputs)
            except TirError as error:
                self.refusals.add(node.op_type, node.name or node.output[0], "", str(error))
        several = found if isinstance(found, (list, tuple)) else [found]
        for name, value in zip(node.output, several, strict=False):
            self.values[name] = value

    def _translated(self, node: Any, inputs: list[Any]) -> Any:
        import onnx

        attrs = {a.name: _plain(onnx.helper.get_attribute_value(a)) for a in node.attribute}
        self.emitter.name, self.emitter.outputs = _identifier(node.name or node.output[0]), len(node.output)
        if node.op_type in self.given:
            args = [self.emitter.value(x) for x in inputs if x is not None]
            return self.builder.call_te(self.given[node.op_type], *args, **attrs)
        if node.op_type not in TABLE or node.domain not in ("", "ai.onnx"):
            raise GraphError(reason(node.op_type, node.domain))
        function = TABLE[node.op_type]
        wanted = inspect.signature(function).parameters
        if not any(p.kind is p.VAR_KEYWORD for p in wanted.values()):
            unknown = [name for name in attrs if name not in wanted]
            if unknown:
                raise GraphError(f"{unknown[0]}={attrs[unknown[0]]} is not supported")
        return function(self.emitter, *inputs, **attrs)


_REFUSED = object()
"""The value of a node that was refused, and of those that need it."""


def _plain(value: Any) -> Any:
    """An attribute as Python's own: text, numbers, lists."""
    if isinstance(value, bytes):
        return value.decode()
    return list(value) if isinstance(value, (tuple, list)) or type(value).__name__.startswith("Repeated") else value


def _identifier(name: str) -> str:
    """A name of letters, digits and underscores: "batch size" -> "batch_size"."""
    made = re.sub(r"\W", "_", name)
    return made if made[:1].isalpha() or made[:1] == "_" else f"_{made}"

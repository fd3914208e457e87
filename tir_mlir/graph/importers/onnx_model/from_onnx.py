"""`from_onnx`: a model of ONNX as a graph."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.dialect.graph import free_name
from tir_mlir.graph.builder import GraphBuilder
from tir_mlir.graph.importers.onnx_model.model_checks import (
    check_functions,
    check_graph,
    live_nodes,
    sorted_nodes,
    used_names,
)
from tir_mlir.graph.importers.onnx_model.node_import import NodeImporter, TeFunction, identifier
from tir_mlir.graph.importers.onnx_model.read_model import read_model
from tir_mlir.graph.importers.onnx_operators.onnx_emitter import STORAGE_TYPES, TensorSequence
from tir_mlir.graph.importers.onnx_operators.onnx_tensors import GREATEST_BYTES, array_of, bytes_of, dense_array
from tir_mlir.graph.size_code import checked_dtype
from tir_mlir.runtime.progress import follow_build

if TYPE_CHECKING:
    import onnx
    from numpy.typing import ArrayLike

    from tir_mlir.graph.builder import Value
    from tir_mlir.graph.graph import Graph

InputShape: TypeAlias = "Sequence[int | str] | Sequence[Sequence[int | str]]"
"""A shape of a tensor; of a sequence one for each of its tensors."""
_FIX = 'from_onnx(..., ops={{"{op}": f}}), where f makes te tensors of te tensors and attributes'


def from_onnx(
    model: str | os.PathLike[str] | onnx.ModelProto,
    *,
    ops: Mapping[str, TeFunction] | None = None,
    name: str = "main",
    shapes: Mapping[str, InputShape] | None = None,
    values: Mapping[str, ArrayLike] | None = None,
) -> Graph:
    """Translate a model of ONNX to a Graph with the model's weights.

        graph = tir_mlir.from_onnx("model.onnx")

    model: a ModelProto, or the path of its file. Its inputs without initializers are inputs of the graph, its
    initializers are weights by their names, and a dimension with a name (dim_param) is a size of that name. Functions
    of the model, and operators that ONNX defines by others, are inlined. ops: the meaning of operators by their type,
    {"MyOp": f}: f takes te tensors and the attributes by name, and returns a te tensor or several; it comes before
    what is known. shapes: of inputs by their names, instead of those in the file, of a sequence one for each of its
    tensors: {"x": (1, "n")}. values: of inputs that are constants
    of the graph, {"shape": np.array([2, -1])}: such as decide on shapes.
    Raises GraphError that names all operators it does not know, each with its node.
    """
    with follow_build("import of a model"):
        proto = read_model(model)
        importer = OnnxImporter(GraphBuilder(name), proto, dict(ops or {}), shapes or {}, values or {})
        graph = importer.graph()
        for result, length in zip(proto.graph.output, importer.lengths, strict=True):
            if length is not None:
                raise GraphError(
                    f"from_onnx: the output {result.name} is a sequence, and a graph returns tensors\n"
                    "  fix: return its elements, or ConcatFromSequence of them"
                )
        return graph


class InputValuesNeeded(GraphError):
    """A refusal that values of the inputs `names` at import would overcome."""

    def __init__(self, message: str, names: Sequence[str]):
        super().__init__(message)
        self.names = list(names)


class OnnxImporter:
    """One import: `graph()` is its result; then `lengths`: of those outputs that are sequences, else None."""

    def __init__(
        self,
        builder: GraphBuilder,
        proto: onnx.ModelProto,
        ops: Mapping[str, TeFunction],
        shapes: Mapping[str, InputShape],
        values: Mapping[str, ArrayLike],
    ):
        self.builder, self.proto, self.given_shapes, self.given_values = builder, proto, shapes, values
        self.nodes = NodeImporter(builder, proto, ops)
        self.emitter, self.values = self.nodes.emitter, self.nodes.values
        self.dimensions: dict[str, str] = {}  # the names of sizes, by those in the file

    def graph(self) -> Graph:
        """The Graph, or GraphError that tells all that cannot be translated."""
        graph = self.proto.graph
        check_graph(graph)
        check_functions(self.proto)
        self._check_names(graph)
        for name, value in self.given_values.items():
            self.values[name] = TensorSequence(map(np.asarray, value)) if isinstance(value, list) else np.asarray(value)
        nodes = live_nodes(graph, sorted_nodes(graph))
        self.emitter.used = used_names(graph, nodes)
        self._initializers(graph)
        for value_info in graph.input:
            if value_info.name not in self.values:
                is_sequence = value_info.type.HasField("sequence_type") and value_info.name in self.given_shapes
                made = self._sequence(value_info) if is_sequence else self._input(value_info)
                self.values[value_info.name] = made
                self.nodes.note_input(value_info.name, made)
        self.nodes.add_all(nodes)
        try:
            self.nodes.refusals.check("from_onnx", _FIX)
        except GraphError as error:
            if self.nodes.needed:
                raise InputValuesNeeded(str(error), sorted(self.nodes.needed)) from None
            raise
        results: list[Any] = [self.values[result.name] for result in graph.output]
        self.lengths = [len(x) if isinstance(x, TensorSequence) else None for x in results]
        self.builder.output(*(self.emitter.value(x) for r in results for x in (r if isinstance(r, list) else [r])))
        return self.builder.finish()

    def _check_names(self, graph: onnx.GraphProto) -> None:
        names = [value_info.name for value_info in graph.input]
        for what, given in (("shapes", self.given_shapes), ("values", self.given_values)):
            if unknown := [name for name in given if name not in names]:
                raise GraphError(
                    f"from_onnx: {what} of {unknown[0]}, which is not an input of the model\n"
                    f"  fix: name one of {', '.join(names) or 'none'}"
                )

    def _initializers(self, graph: onnx.GraphProto) -> None:
        import onnx

        used, text = self.emitter.used, onnx.TensorProto.STRING
        try:
            arrays = [(x.name, array_of(x)) for x in graph.initializer if x.data_type != text or x.name in used]
            arrays += [(x.values.name, dense_array(x)) for x in graph.sparse_initializer]
        except GraphError as error:
            raise GraphError(f"from_onnx: {error}") from error
        for name, array in arrays:
            if name not in self.values:  # a value that is given comes before the one of the file
                self.values[name] = array
                if array.ndim:
                    self.emitter.names[id(array)] = name

    def _input(self, value_info: onnx.ValueInfoProto) -> Value:
        name, tensor = value_info.name, value_info.type.tensor_type
        if name in self.given_shapes and value_info.type.HasField("tensor_type"):
            shape = [s if isinstance(s, int) else self._dimension(str(s)) for s in self.given_shapes[name]]
        elif not value_info.type.HasField("tensor_type") or not tensor.HasField("shape"):
            raise GraphError(f"from_onnx: input {name} is not a tensor of known rank\n  fix: set its shape")
        else:
            shape = [
                d.dim_value if d.HasField("dim_value") else self._dimension(d.dim_param or f"{name}_{n}")
                for n, d in enumerate(tensor.shape.dim)
            ]
        if negative := [size for size in shape if isinstance(size, int) and size < 0]:
            raise GraphError(f"from_onnx: the input {name} has the size {negative[0]}\n  fix: a number from 0 on")
        return self._tensor(name, shape, tensor.elem_type)

    def _tensor(self, name: str, shape: Sequence[int | str], elem_type: int) -> Value:
        declared = _input_dtype(name, elem_type)
        dtype = STORAGE_TYPES.get(declared, declared)
        if (size := bytes_of(shape, dtype)) > GREATEST_BYTES:
            raise GraphError(
                f"from_onnx: the input {name} {tuple(shape)} {dtype} takes {size} bytes, and at most {GREATEST_BYTES} "
                "are possible\n  fix: a smaller shape"
            )
        made = self.builder.input(name, shape, dtype)
        self.emitter.inputs.append(made)
        if declared != dtype:
            self.emitter.small[made] = declared
        return made

    def _sequence(self, value_info: onnx.ValueInfoProto) -> TensorSequence:
        """A sequence of as many tensors as shapes are given, each an input of its own: x -> x_0, x_1, .."""
        shapes: Any = self.given_shapes[value_info.name]
        element = value_info.type.sequence_type.elem_type.tensor_type
        tensors = [self._tensor(f"{value_info.name}_{n}", s, element.elem_type) for n, s in enumerate(shapes)]
        return TensorSequence(tensors)

    def _dimension(self, name: str) -> str:
        """The size of a dim_param: different names are different sizes, also where one identifier is near to both."""
        if name not in self.dimensions:
            self.dimensions[name] = free_name(identifier(name), self.dimensions.values())
        return self.dimensions[name]


def _input_dtype(name: str, elem_type: int) -> str:
    """The element type of an input. Errors: GraphError for those that graphs do not have."""
    import onnx

    kinds = onnx.TensorProto.DataType
    kind = kinds.Name(elem_type).lower() if elem_type in kinds.values() else f"of type {elem_type}"
    try:
        name_of_type = onnx.helper.tensor_dtype_to_np_dtype(elem_type).name
        return name_of_type if name_of_type in STORAGE_TYPES else checked_dtype(name_of_type)
    except (GraphError, KeyError):
        raise GraphError(
            f"from_onnx: the input {name} is {kind}, which graphs do not have\n"
            "  fix: export the model with another type; of complex numbers with both parts as tensors"
        ) from None

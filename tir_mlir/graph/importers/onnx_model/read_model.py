"""The file of a model of ONNX, read without following its references to other files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from tir_mlir.dialect.diagnostics import ArgumentError, GraphError, short_repr
from tir_mlir.graph.importers.onnx_model.model_checks import node_name
from tir_mlir.runtime.tools import given_files

if TYPE_CHECKING:
    import onnx
    from google.protobuf.message import Message


def read_model(model: str | os.PathLike[str] | onnx.ModelProto) -> onnx.ModelProto:
    """A ModelProto, or the path of its file -> the ModelProto with the data of its tensors.

    Data in other files are read from the folder of the model only, not through links out of it. Errors: GraphError.
    """
    import onnx
    from google.protobuf.message import DecodeError

    if isinstance(model, onnx.ModelProto):
        proto = model
        if stray := next((t for t in _tensors(proto) if _is_external(t)), None):
            raise GraphError(
                f"from_onnx: the data of the tensor {stray.name} are in another file\n"
                "  fix: from_onnx(path of the model's file), or onnx.load(path)"
            )
    else:
        if not isinstance(model, (str, os.PathLike)):
            raise GraphError(
                f"from_onnx: cannot read {short_repr(model)}\n  fix: a ModelProto, or the path of its file"
            )
        if os.path.exists(model) and not os.path.isfile(model):
            raise GraphError(f"from_onnx: cannot read {short_repr(model)}: it is not a file")
        try:
            proto = onnx.load(model, load_external_data=False)
        except (OSError, TypeError, ValueError) as error:
            raise GraphError(f"from_onnx: cannot read {short_repr(model)}: {error}") from error
        except DecodeError as error:
            raise GraphError(f"from_onnx: {short_repr(model)} is not a model of ONNX: {error}") from error
        _read_external(proto, Path(os.fspath(model)))
    _check_versions(proto)
    _check_fields(proto)
    return proto


def _check_fields(proto: onnx.ModelProto) -> None:
    """Refuse a file that says what this version of onnx does not know: it could change results. Errors: GraphError."""
    import onnx
    from google.protobuf.unknown_fields import UnknownFieldSet

    graphs, parts = [proto.graph], list[tuple[str, "Message"]]([("the model", proto)])
    parts += [(f"the function {function.name}", function) for function in proto.functions]
    nodes = [node for function in proto.functions for node in function.node]
    while graphs or nodes:
        if graphs:
            graph = graphs.pop()
            parts.append((f"the graph {graph.name}", graph))
            parts += [(f"the tensor {tensor.name}", tensor) for tensor in graph.initializer]
            nodes += graph.node
        for node in nodes:
            parts.append((f"the node {node_name(node)}", node))
            parts += [(f"the attribute {a.name} of the node {node_name(node)}", a) for a in node.attribute]
            graphs += [g for a in node.attribute for g in ([a.g] if a.HasField("g") else a.graphs)]
        nodes = []
    for what, part in parts:
        for field in UnknownFieldSet(part):
            raise GraphError(
                f"from_onnx: {what} has a field {field.field_number}, which onnx {onnx.__version__} does not know\n"
                "  fix: pip install --upgrade onnx, or export the model again"
            )


def _check_versions(proto: onnx.ModelProto) -> None:
    import onnx

    newest = onnx.defs.onnx_opset_version()
    for opset in proto.opset_import:
        if opset.domain in ("", "ai.onnx") and opset.version < 1:
            raise GraphError(
                f"from_onnx: the model is of opset {opset.version}\n  fix: export it again, for opset {newest}"
            )
        if opset.domain in ("", "ai.onnx") and opset.version > newest:
            raise GraphError(
                f"from_onnx: the model is of opset {opset.version}, and onnx {onnx.__version__} knows those up to "
                f"{newest}\n  fix: pip install --upgrade onnx, or export the model for opset {newest}"
            )


def _is_external(tensor: onnx.TensorProto) -> bool:
    import onnx

    return tensor.data_location == onnx.TensorProto.EXTERNAL


def _tensors(proto: onnx.ModelProto) -> list[onnx.TensorProto]:
    """All tensors of a model: initializers and attributes, also of branches, bodies and functions."""
    tensors: list[onnx.TensorProto] = []
    graphs, nodes = [proto.graph], [node for function in proto.functions for node in function.node]
    while graphs or nodes:
        if graphs:
            graph = graphs.pop()
            tensors += graph.initializer
            tensors += [part for sparse in graph.sparse_initializer for part in (sparse.values, sparse.indices)]
            nodes += graph.node
        for attribute in (a for node in nodes for a in node.attribute):
            tensors += [attribute.t] if attribute.HasField("t") else attribute.tensors
            graphs += [attribute.g] if attribute.HasField("g") else attribute.graphs
        nodes = []
    return tensors


def _read_external(proto: onnx.ModelProto, path: Path) -> None:
    """Put the data that lie in other files into the tensors."""
    folder = path.parent.resolve()
    for tensor in _tensors(proto):
        if _is_external(tensor):
            _read_data(tensor, folder)


def _read_data(tensor: onnx.TensorProto, folder: Path) -> None:
    import onnx

    entries = {entry.key: entry.value for entry in tensor.external_data}
    try:
        offset, length = int(entries.get("offset", 0)), int(entries.get("length", -1))
    except ValueError:
        raise GraphError(
            f"from_onnx: the data of the tensor {tensor.name} cannot be read: its offset or length is not a number\n"
            "  fix: copy all its files"
        ) from None
    try:
        source = given_files.file_inside(folder, entries.get("location"))
        size = source.stat().st_size
        given_files.check_inside(source, tensor.name, size, offset, max(length, 0))
    except ArgumentError as error:
        raise GraphError(f"from_onnx: the data of the tensor {tensor.name} cannot be read: {error}") from error
    with open(source, "rb") as file:
        file.seek(offset)
        tensor.raw_data = file.read(length)
    tensor.data_location = onnx.TensorProto.DEFAULT
    del tensor.external_data[:]

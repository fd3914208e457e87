"""Operators that are defined by others: functions of a model, and those of ONNX's own definitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.graph.importers.onnx_operators.onnx_emitter import OnnxEmitter, Result, TensorSequence

if TYPE_CHECKING:
    import onnx


@dataclass(frozen=True)
class OperatorBody:
    """What a node stands for: nodes between its inputs and outputs, of a version of the operators."""

    nodes: list[onnx.NodeProto]
    inputs: list[str]
    outputs: list[str]
    opset: int


def body_of_function(function: onnx.FunctionProto, node: onnx.NodeProto) -> OperatorBody:
    """The body of a FunctionProto for a node that calls it: the attributes that it refers to have the node's values."""
    import onnx

    given = {a.name: a for a in function.attribute_proto} | {a.name: a for a in node.attribute}
    if missing := [name for name in function.attribute if name not in given and _is_needed(function, name)]:
        raise GraphError(f"it lacks the attribute {missing[0]} of the function\n  fix: give it to the node")
    declared = {*function.attribute, *(a.name for a in function.attribute_proto)}
    if unknown := [a.name for a in node.attribute if a.name not in declared]:
        raise GraphError(f"its attribute {unknown[0]} is not one of the function\n  fix: leave it out")
    versions = {o.domain: o.version for o in function.opset_import}
    nodes = [_with_attributes(inner, given) for inner in function.node]
    opset = versions.get("", versions.get("ai.onnx", onnx.defs.onnx_opset_version()))
    return OperatorBody(nodes, list(function.input), list(function.output), opset)


def _is_needed(function: onnx.FunctionProto, name: str) -> bool:
    """Whether a node refers to an attribute that its operator cannot do without."""
    import onnx

    for inner in function.node:
        for attribute in inner.attribute:
            if attribute.ref_attr_name == name and onnx.defs.has(inner.op_type, inner.domain):
                declared = onnx.defs.get_schema(inner.op_type, inner.domain).attributes.get(attribute.name)
                if declared is not None and declared.required:
                    return True
    return False


def _with_attributes(node: onnx.NodeProto, given: Mapping[str, onnx.AttributeProto]) -> onnx.NodeProto:
    """A node with values for the attributes that are references; those without one are left out."""
    import onnx

    if not any(a.ref_attr_name or a.HasField("g") for a in node.attribute):
        return node
    bound = onnx.NodeProto()
    bound.CopyFrom(node)
    del bound.attribute[:]
    for attribute in node.attribute:
        if attribute.ref_attr_name:
            if attribute.ref_attr_name in given:
                copied = bound.attribute.add()
                copied.CopyFrom(given[attribute.ref_attr_name])
                copied.name = attribute.name
            continue
        copied = bound.attribute.add()
        copied.CopyFrom(attribute)
        if attribute.HasField("g"):
            inner_nodes = [_with_attributes(inner, given) for inner in attribute.g.node]
            del copied.g.node[:]
            copied.g.node.extend(inner_nodes)
    return bound


def body_of_schema(node: onnx.NodeProto, operands: Sequence[Result], e: OnnxEmitter) -> OperatorBody | None:
    """The body that ONNX itself gives an operator, for the version of the model; None: it gives none."""
    import onnx

    if node.domain not in ("", "ai.onnx") or not onnx.defs.has(node.op_type, e.opset, ""):
        return None
    schema: Any = onnx.defs.get_schema(node.op_type, e.opset, "")
    function = onnx.FunctionProto()
    if schema.has_function:
        text = schema.get_function_with_opset_version(_nearest_version(schema.function_opset_versions, e.opset))
    elif schema.has_context_dependent_function:
        version = _nearest_version(schema.context_dependent_function_opset_versions, e.opset)
        types = [_type_of(x).SerializeToString() for x in operands]
        text = schema.get_context_dependent_function_with_opset_version(version, node.SerializeToString(), types)
    else:
        return None
    if not text:
        return None
    function.ParseFromString(text)
    defaults = [a.default_value for a in schema.attributes.values() if a.default_value.type]
    present = {a.name for a in function.attribute_proto}
    function.attribute_proto.extend(a for a in defaults if a.name not in present)
    return body_of_function(function, node)


def _nearest_version(versions: Sequence[int], opset: int) -> int:
    """The newest version that is not newer than the model's, else the oldest."""
    return max((v for v in versions if v <= opset), default=min(versions))


def _type_of(x: Result) -> onnx.TypeProto:
    """The type of a Value or a known array, for bodies that depend on it."""
    import onnx

    if x is None:
        return onnx.TypeProto()
    if isinstance(x, TensorSequence):
        element = _type_of(x[0]) if x else onnx.TypeProto()
        return onnx.helper.make_sequence_type_proto(element)
    name = x.dtype.name if isinstance(x, np.ndarray) else x.dtype
    if name == "bfloat16":  # NumPy has no such type
        kind: int = onnx.TensorProto.BFLOAT16
    else:
        kind = onnx.helper.np_dtype_to_tensor_dtype(np.dtype("int64" if name == "object" else name))
    return onnx.helper.make_tensor_type_proto(kind, [s if isinstance(s, int) else str(s) for s in x.shape])

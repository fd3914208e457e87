"""Nodes whose operands are known when the model is imported, computed by ONNX's own evaluator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.graph.importers.onnx_operators.onnx_emitter import OnnxEmitter, TensorSequence
from tir_mlir.graph.importers.onnx_operators.onnx_tensors import MOST_BYTES

MAX_FOLDED_ELEMENTS = 1 << 16
"""Elements of the operands of a node that is computed at import without need; what is larger waits for the weights."""

GROWING = frozenset(
    "BlackmanWindow CenterCropPad Col2Im ConstantOfShape DFT Expand EyeLike HammingWindow HannWindow MelWeightMatrix "
    "OneHot Pad Range Resize STFT Tile Upsample".split()
)
"""Operators whose results can be larger than all that they take: they are translated first."""


def is_known(node: Any, operands: Sequence[Any]) -> bool:
    """Whether ONNX's evaluator can compute a node: known numbers, no bodies, no random numbers, a result that fits."""
    import onnx

    if node.domain not in ("", "ai.onnx") or any(a.HasField("g") for a in node.attribute):
        return False
    if not all(x is None or (isinstance(x, np.ndarray) and x.dtype != object) for x in operands):
        return False
    if node.op_type.startswith(("Random", "String", "Optional", "Bernoulli", "Multinomial", "ImageDecoder")):
        return False
    if not onnx.defs.has(node.op_type, ""):
        return False
    return node.op_type not in GROWING or _grown_bytes(operands) <= MOST_BYTES


def _grown_bytes(operands: Sequence[Any]) -> int:
    """No less than the bytes of the result of an operator that repeats, pads or counts."""
    total = 16 * max((x.size for x in operands if x is not None), default=1)
    for x in operands[:4]:
        if x is not None and x.dtype.kind in "iu" and x.size <= 64:
            for factor in x.reshape(-1).tolist():
                total *= max(abs(factor), 1)
        elif x is not None and x.dtype.kind == "f" and x.size <= 8:
            for factor in x.reshape(-1):
                total *= max(int(abs(factor)) + 1, 1) if np.isfinite(factor) else 1
    return total


def is_foldable(node: Any, operands: Sequence[Any], e: OnnxEmitter) -> bool:
    """Whether a node is computed at import rather than by the graph: small, and without the model's float weights."""
    if not operands or node.op_type in GROWING or not is_known(node, operands):
        return False
    if node.op_type == "DequantizeLinear" and operands[0].ndim:
        return False  # of a weight of integers, which a product of integers takes as it is
    if any(x is not None and id(x) in e.names and x.dtype.kind not in "iub" for x in operands):
        return False
    if node.op_type in ("Div", "Mod") and operands[1].dtype.kind in "iu" and not operands[1].all():
        return False  # the translation refuses it
    return sum(x.size for x in operands if x is not None) <= MAX_FOLDED_ELEMENTS


def fold_node(node: Any, operands: Sequence[Any], opset: int) -> Any:
    """The results of a node on known operands. Errors: GraphError where ONNX's evaluator refuses them."""
    import onnx
    from onnx.reference import ReferenceEvaluator

    names = [name for name, x in zip(node.input, operands, strict=True) if x is not None]
    output_names = [name for name in node.output if name]
    nothing = onnx.TypeProto()
    graph = onnx.helper.make_graph(
        [node],
        "node",
        [onnx.helper.make_value_info(name, nothing) for name in dict.fromkeys(names)],
        [onnx.helper.make_value_info(name, nothing) for name in output_names],
    )
    feeds = {name: x for name, x in zip(node.input, operands, strict=True) if x is not None}
    try:
        with np.errstate(all="ignore"):
            results = iter(ReferenceEvaluator(graph, opsets={"": opset}).run(None, feeds))
    except Exception as error:
        raise GraphError(f"it cannot be computed from its constants: {type(error).__name__}: {error}") from error
    return [_result_arrays(next(results)) if name else None for name in node.output]


def _result_arrays(result: Any) -> Any:
    return TensorSequence(map(np.asarray, result)) if isinstance(result, list) else np.asarray(result)

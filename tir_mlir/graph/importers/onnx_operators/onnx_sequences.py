"""Sequences of tensors, whose length is known when the model is imported; branches and loops that are known then."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.graph.importers.emitter import OnnxValue, axis_in
from tir_mlir.graph.importers.onnx_operators.onnx_emitter import Input, OnnxEmitter, TensorSequence, onnx_op, rank_of

if TYPE_CHECKING:
    import onnx

    from tir_mlir.graph.builder import Value


@onnx_op("SequenceConstruct")
def sequence(e: OnnxEmitter, *elements: OnnxValue) -> TensorSequence:
    return TensorSequence(elements)


@onnx_op("SequenceEmpty")
def empty_sequence(e: OnnxEmitter, dtype: int = 1) -> TensorSequence:
    return TensorSequence()


@onnx_op("SequenceLength")
def sequence_length(e: OnnxEmitter, elements: TensorSequence) -> np.ndarray:
    return np.asarray(len(elements), "int64")


@onnx_op("SequenceAt")
def element_at(e: OnnxEmitter, elements: TensorSequence, position: OnnxValue) -> OnnxValue:
    return elements[_element_position(e, position, len(elements), len(elements) - 1)]


@onnx_op("SequenceInsert")
def with_element(e: OnnxEmitter, elements: TensorSequence, tensor: OnnxValue, position: Input = None) -> TensorSequence:
    count = len(elements)
    index = count if position is None else _element_position(e, position, count, count)
    return TensorSequence([*elements[:index], tensor, *elements[index:]])


@onnx_op("SequenceErase")
def without_element(e: OnnxEmitter, elements: TensorSequence, position: Input = None) -> TensorSequence:
    count = len(elements)
    index = count - 1 if position is None else _element_position(e, position, count, count - 1)
    return TensorSequence([*elements[:index], *elements[index + 1 :]])


def _element_position(e: OnnxEmitter, position: OnnxValue, count: int, greatest: int) -> int:
    """A position as a number in 0..greatest; negative ones count from the end."""
    index = e.known_integer(position, "the position in a sequence")
    if not -count <= index <= greatest:
        raise GraphError(f"position {index} of a sequence of {count}\n  fix: a position in {-count}..{greatest}")
    return index + count if index < 0 else index


@onnx_op("ConcatFromSequence")
def concat_sequence(e: OnnxEmitter, elements: TensorSequence, axis: int, new_axis: int = 0) -> Value:
    if not elements:
        raise GraphError("an empty sequence has no shape to join\n  fix: a sequence of at least one tensor")
    values = [e.value(x) for x in elements]
    if new_axis:
        return e.op("stack", *values, axis=axis_in(axis, rank_of(values[0]) + 1))
    return e.concat(values, axis_in(axis, rank_of(values[0])))


@onnx_op("SplitToSequence")
def parts(e: OnnxEmitter, x: OnnxValue, split: Value | None = None, axis: int = 0, keepdims: int = 1) -> TensorSequence:
    """Parts of given lengths, of one length (the last is what is left), or of one element each."""
    x, axis = e.value(x), axis_in(axis, rank_of(x))
    extent = x.shape[axis]
    if not isinstance(extent, int):
        raise GraphError(f"a sequence of {extent} tensors\n  fix: make this dimension static")
    known = [1] if split is None else e.known_integers(split, "the lengths of a SplitToSequence")
    if split is None or not split.ndim:
        part = max(known[0], 1)
        lengths = [min(part, extent - begin) for begin in range(0, extent, part)]
    else:
        lengths = known
    ends = np.cumsum(lengths).tolist()
    if min(lengths, default=0) < 0 or (ends[-1] if ends else 0) != extent:
        raise GraphError(f"parts of {lengths} elements of {extent}\n  fix: parts whose sum is {extent}")
    tensors = [e.slice(x, axis, end - n, end) for n, end in zip(lengths, ends, strict=True)]
    if split is None and not keepdims:
        rest = [s for n, s in enumerate(x.shape) if n != axis]
        tensors = [e.reshape(t, rest) for t in tensors]
    return TensorSequence(tensors)


@onnx_op("SequenceMap")
def map_sequence(
    e: OnnxEmitter, elements: TensorSequence, *others: OnnxValue | TensorSequence, body: onnx.GraphProto
) -> tuple[TensorSequence, ...]:
    """The body's results for each element, with those of other sequences at its position."""
    results = []
    for n, x in enumerate(elements):
        results.append(e.graph_results(body, [x, *(y[n] if isinstance(y, TensorSequence) else y for y in others)]))
    return tuple(TensorSequence(r[n] for r in results) for n in range(len(body.output)))

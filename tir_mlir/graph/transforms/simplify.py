"""Simplify a graph: operators that do nothing or undo each other, and reshapes that move out of the way."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.graph import TensorType
from tir_mlir.graph import size_code
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.operators import OperatorKind, kind_of
from tir_mlir.graph.rewrite import Matches, NodeCall, Rule, apply_rules, is_kind, is_op, uses, wildcard
from tir_mlir.graph.transforms.clean import clean


def simplify(graph: Graph) -> Graph:
    """Simplify until nothing changes, then erase what is dead.

    permute_dims(permute_dims(x, p), q)    ->  permute_dims(x, p[q]); gone if that is the identity
    reshape(reshape(x, s), t)              ->  reshape(x, t); gone if x has the shape t
    nn.dense(x, w, b)                      ->  nn.dense(x, w) + b
    matmul(x, w), x of rank 3, w of 2      ->  reshape(matmul(reshape(x), w)): one product
    relu(reshape(x, s))                    ->  reshape(relu(x), s), so that operators meet what they can be fused with
    nn.attention(q, repeated k, repeated v)  ->  nn.attention(q, k, v), heads of keys that are shared are not copied
    """
    return clean(apply_rules(graph, RULES))


def _no_effect(call: NodeCall, _: Matches) -> ir.Value | None:
    """reshape(x, s), astype, broadcast_to -> x, if x has this type"""
    return call.args[0] if call.type_of(call.args[0]) == call.struct_info else None


def _same_order(call: NodeCall, _: Matches) -> ir.Value | None:
    """permute_dims(x, (0, 1, 2)) -> x"""
    axes = _axes(call)
    return call.args[0] if axes == list(range(len(axes))) else None


def _one_permutation(call: NodeCall, matches: Matches) -> ir.Value:
    """permute_dims(permute_dims(x, p), q) -> permute_dims(x, p[q])"""
    inner = _axes(call.call_of(matches[_PERMUTED]))
    return call.permute(matches[_X], [inner[a] for a in _axes(call)])


def _moved_ones(call: NodeCall, _: Matches) -> ir.Value | None:
    """permute_dims(x) -> reshape(x), if only dimensions of size 1 move"""
    shape = call.shape_of(call.args[0])
    moved = [a for a in _axes(call) if shape[a] != 1]
    return call.reshape(call.args[0], call.shape) if moved == sorted(moved) else None


def _axes(call: NodeCall) -> list[int]:
    rank, axes = len(call.shape), call.attrs.get("axes")
    return list(range(rank))[::-1] if axes is None else [a % rank for a in axes]


def _reshape(call: NodeCall, matches: Matches) -> ir.Value:
    """reshape(reshape(x, s), t) -> reshape(x, t); squeeze(x), flatten(x) -> reshape(x, t)"""
    return call.reshape(matches[_X], call.shape)


def _product_and_sum(call: NodeCall, matches: Matches) -> ir.Value:
    """nn.dense(x, w, b) -> nn.dense(x, w) + b"""
    return call.emit("add", [call.emit_same(call.args[:2]), matches[_B]])


def _product_of_rows(call: NodeCall, matches: Matches) -> ir.Value | None:
    """matmul(x, w), x of rank 3, w of rank 2 -> reshape(matmul(reshape(x), w)): one product"""
    shape = call.shape_of(matches[_X])
    if len(shape) < 3 or len(call.shape_of(matches[_W])) != 2:
        return None
    rows = call.reshape(matches[_X], [size_code.product(shape[:-1]), shape[-1]])
    return call.reshape(call.emit_same([rows, matches[_W]]), call.shape)


def _reshape_after(call: NodeCall, _: Matches) -> ir.Value | None:
    """relu(reshape(x, s)) -> reshape(relu(x), s), so that operators meet what they can be fused with"""
    position = next((n for n, v in enumerate(call.args) if _is_moved(call, n, v)), None)
    if position is None:
        return None
    reshape = call.call_of(call.args[position])
    source = call.type_of(reshape.args[0])
    args: list[ir.Value] = []
    for number, value in enumerate(call.args):
        operand = reshape.args[0] if number == position else _in_shape(call, value, source, reshape.struct_info)
        if operand is None:
            return None
        args.append(operand)
    return call.reshape(call.emit_same(args), call.shape)


def _is_moved(call: NodeCall, number: int, value: ir.Value) -> bool:
    """Whether the reshape that an operand comes from may move behind a call: it only adds dimensions, nobody else reads
    the reshaped tensor, and the call computes each element, or each row, from those at the same position."""
    reshape = call.defining_call(value, _RESHAPE)
    if reshape is None or uses(value) != 1 or reshape.shape != call.shape:
        return False
    source, reshaped = call.shape_of(reshape.args[0]), reshape.shape
    if len(source) >= len(reshaped) or not source:
        return False
    if kind_of(call.op.short) is OperatorKind.ROWS:
        return number == 0 and call.attrs.get("axis") in (-1, [-1]) and source[-1] == reshaped[-1]
    return True


def _in_shape(call: NodeCall, value: ir.Value, source: TensorType, reshaped: TensorType) -> ir.Value | None:
    """Another operand, for a call whose operand of shape `reshaped` is taken in the shape `source`, or None."""
    shape = call.shape_of(value)
    if all(size == 1 for size in shape) and len(shape) <= len(source.shape):
        return value
    if shape == reshaped.shape:
        return call.reshape(value, source.shape)
    along_last = shape and source.shape and reshaped.shape and source.shape[-1] == reshaped.shape[-1] == shape[-1]
    if not along_last or any(size != 1 for size in shape[:-1]):
        return None
    return value if len(shape) == 1 else call.reshape(value, shape[-1:])


def _shared_heads(call: NodeCall, _: Matches) -> ir.Value | None:
    """nn.attention(q, k, v), with heads of k and v repeated for heads of q -> that of k and v before they were"""
    if call.attrs.get("layout") != "BHSD" or call.struct_info.is_symbolic:
        return None
    query, *parts = call.args[:3]
    once = [_repeated_heads(call, value) for value in parts]
    shapes = [call.shape_of(value) for value in once if value is not None]
    if len(shapes) != 2 or shapes[0][1] != shapes[1][1]:
        return None
    return call.emit_same([query, *once, *call.args[3:]])  # type: ignore[list-item]


def _repeated_heads(call: NodeCall, value: ir.Value) -> ir.Value | None:
    """x of reshape(broadcast_to(reshape(x, (b, h, 1, ..)), (b, h, n, ..)), (b, h * n, ..)): axis 1 is repeated."""
    whole = call.defining_call(value, is_op("reshape"))
    spread = None if whole is None else call.defining_call(whole.args[0], is_op("broadcast_to"))
    apart = None if spread is None else call.defining_call(spread.args[0], is_op("reshape", "expand_dims"))
    if apart is None or spread is None or len(apart.shape) != 5 or len(spread.shape) != 5:
        return None
    source, shape = call.shape_of(apart.args[0]), call.shape_of(value)
    batch, heads, one, *rest = apart.shape
    fits = one == 1 and source == (batch, heads, *rest) and (*spread.shape[:2], *spread.shape[3:]) == source
    return apart.args[0] if fits and (shape[0], *shape[2:]) == (batch, *rest) else None


CONVERTED = (is_op("quantize") | is_op("dequantize"))(varg_default_wildcard=True).where(
    lambda call: all(size == 1 for value in call.args[1:] for size in call.shape_of(value))
)
"""Conversions between floats and integers with one scale: they are elementwise."""


_X, _W, _B = wildcard(), wildcard(), wildcard()
_RESHAPE, _PERMUTED = is_op("reshape"), is_op("permute_dims")(_X)

RULES = [
    Rule(is_op("nn.dropout")(_X), lambda call, matches: matches[_X]),
    Rule((is_kind(OperatorKind.VIEW) | is_op("astype", "broadcast_to"))(_X), _no_effect),
    Rule(_PERMUTED, _same_order),
    Rule(is_op("permute_dims")(_PERMUTED), _one_permutation),
    Rule(_PERMUTED, _moved_ones),
    Rule(is_kind(OperatorKind.VIEW)(is_kind(OperatorKind.VIEW)(_X)), _reshape),
    Rule((is_kind(OperatorKind.VIEW) & ~is_op("reshape"))(_X), _reshape),
    Rule(is_op("nn.dense")(_X, _W, _B), _product_and_sum),
    Rule(is_kind(OperatorKind.PRODUCT)(_X, _W), _product_of_rows),
    Rule(is_op("nn.attention")(varg_default_wildcard=True), _shared_heads),
    Rule(is_kind(OperatorKind.ELEMENTWISE, OperatorKind.ROWS)(varg_default_wildcard=True), _reshape_after),
    Rule(CONVERTED, _reshape_after),
]

"""Ops of the vector dialect; a vector is the row-major list of its lanes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from mlir import ir

from tir_mlir.dialect.diagnostics import NotInterpreted
from tir_mlir.dialect.ir import attrs
from tir_mlir.dialect.ir.lowering_op_views import BroadcastOp, ExtractOp, ReductionOp, ShapeCastOp, VectorBitcastOp
from tir_mlir.dialect.ir.op_views import LoadOp, TransferReadOp, isa
from tir_mlir.interpreter import floats, integers
from tir_mlir.interpreter.codegen import DYNAMIC, FunctionWriter, writes
from tir_mlir.interpreter.counters import FLOPS, LOADS, STORES, destination
from tir_mlir.interpreter.kinds import is_float, kind_of, size
from tir_mlir.interpreter.ops import vector_memory
from tir_mlir.interpreter.ops.memory_ops import indices, reduction, tuple_of
from tir_mlir.interpreter.ops.scalar_ops import PAIRS


def shape(value: ir.Value) -> tuple[int, ...]:
    return tuple(value.type.shape) if isinstance(value.type, ir.VectorType) else ()


def lanes_text(w: FunctionWriter, value: ir.Value) -> str:
    """The text of the list of lanes of a vector or scalar."""
    return w.value(value) if isinstance(value.type, ir.VectorType) else f"[{w.value(value)}]"


# --- memory -----------------------------------------------------------------------------------------------------------


@writes("affine.vector_load", "vector.load")
def load(w: FunctionWriter, op: ir.Operation) -> None:
    memref, result = LoadOp(op).memref, op.results[0]
    index = tuple_of(indices(w, op))
    args = f"{w.ref(memref).view}, {index}, {shape(result)}"
    w.put(f"{w.define(result)} = _lanes.load({args}, {w.watches(memref)}, {reduction(op, memref)})")
    w.count_accesses(LOADS, memref, math.prod(shape(result)))


@writes("affine.vector_store", "vector.store")
def store(w: FunctionWriter, op: ir.Operation) -> None:
    value, memref = list(op.operands)[:2]
    index = tuple_of(indices(w, op))
    args = f"{w.ref(memref).view}, {index}, {shape(value)}, {w.value(value)}"
    w.put(f"_lanes.store({args}, {w.watched}, {reduction(op, memref)})")
    w.count_accesses(STORES, memref, math.prod(shape(value)))


def _count_masked(w: FunctionWriter, what: str, memref: ir.Value, mask: str) -> None:
    if w.options.counts:
        w.put(f"_more[{what!r}, {w.roots.name(memref)!r}] += sum({mask})")


@writes("vector.maskedload")
def masked_load(w: FunctionWriter, op: ir.Operation) -> None:
    memref, *index, mask, pass_thru = op.operands
    args = f"{w.ref(memref).view}, {tuple_of(w.values(index))}, {w.value(mask)}, {w.value(pass_thru)}"
    w.put(f"{w.define(op.results[0])} = _lanes.masked_load({args}, {w.watches(memref)})")
    _count_masked(w, LOADS, memref, w.value(mask))


@writes("vector.maskedstore")
def masked_store(w: FunctionWriter, op: ir.Operation) -> None:
    memref, *index, mask, value = op.operands
    args = f"{w.ref(memref).view}, {tuple_of(w.values(index))}, {w.value(mask)}, {w.value(value)}"
    w.put(f"_lanes.masked_store({args}, {w.watched})")
    _count_masked(w, STORES, memref, w.value(mask))


@writes("vector.gather")
def gather(w: FunctionWriter, op: ir.Operation) -> None:
    memref, *index, steps, mask, pass_thru = op.operands
    args = ", ".join([w.ref(memref).view, tuple_of(w.values(index)), *w.values([steps, mask, pass_thru])])
    w.put(f"{w.define(op.results[0])} = _lanes.gather({args}, {w.watches(memref)})")
    _count_masked(w, LOADS, memref, w.value(mask))


@writes("vector.scatter")
def scatter(w: FunctionWriter, op: ir.Operation) -> None:
    memref, *index, steps, mask, value = op.operands
    args = ", ".join([w.ref(memref).view, tuple_of(w.values(index)), *w.values([steps, mask, value])])
    w.put(f"_lanes.scatter({args}, {w.watched})")
    _count_masked(w, STORES, memref, w.value(mask))


@writes("vector.transfer_read", "vector.transfer_write")
def transfer(w: FunctionWriter, op: ir.Operation) -> None:
    is_read = isa(op, TransferReadOp)
    counts = attrs.integers(op, "operandSegmentSizes")
    operands = list(op.operands)
    memref, vector = (operands[0], op.results[0]) if is_read else (operands[1], operands[0])
    if not isinstance(memref.type, ir.MemRefType):
        raise NotInterpreted(f"{op.name} of {memref.type}: the interpreter supports memrefs only")
    index = operands[sum(counts[: 1 if is_read else 2]) :][: counts[1 if is_read else 2]]
    mask = w.value(operands[-1]) if counts[-1] else "None"
    dims = []
    for expr in attrs.map_of(op.attributes["permutation_map"]).results:
        expr = expr.maybe_downcast()
        dims.append(expr.position if isinstance(expr, ir.AffineDimExpr) else -1)
    in_bounds = [bool(ir.BoolAttr(b).value) for b in op.attributes["in_bounds"]]  # type: ignore[union-attr]
    args = f"{w.ref(memref).view}, {tuple_of(w.values(index))}, {shape(vector)}, {dims}, {in_bounds}"
    if is_read:
        padding = w.value(operands[counts[0] + counts[1]])
        w.put(f"{w.define(vector)} = _lanes.transfer_read({args}, {padding}, {mask}, {w.watched})")
    else:
        w.put(f"_lanes.transfer_write({args}, {w.value(vector)}, {mask}, {w.watched})")
    w.count_accesses(LOADS if is_read else STORES, memref, math.prod(shape(vector)))


# --- permutations and reshapes of lanes -------------------------------------------------------------------------------


@writes("vector.broadcast", "vector.splat")
def broadcast(w: FunctionWriter, op: ir.Operation) -> None:
    source, result = BroadcastOp(op).source, op.results[0]
    if math.prod(shape(source)) == 1:
        w.put(f"{w.define(result)} = {lanes_text(w, source)} * {math.prod(shape(result))}")
        return
    text = f"{w.keep(vector_memory.spread, 'spread')}({w.value(source)}, {shape(source)}, {shape(result)})"
    w.put(f"{w.define(result)} = {text}")


@writes("vector.bitcast")
def bitcast(w: FunctionWriter, op: ir.Operation) -> None:
    """Emit the bits of lanes as lanes of another width, the lowest bits first."""
    source, result = VectorBitcastOp(op).source, op.results[0]
    kinds = [kind_of(v.type) for v in (source, result)]
    if kinds[0] == kinds[1]:
        w.variables[result] = w.value(source)
        return
    if w.options.exact and any(map(is_float, kinds)):
        raise NotInterpreted(f"{op.name} of floats depends on their bits, which exact numbers do not have")
    text = w.value(source)
    if is_float(kinds[0]):
        text = f"list(map({w.keep(floats.bits_of(kinds[0]), f'bits_of_{kinds[0]}')}, {text}))"
    old, new = (size(k) * 8 for k in kinds)
    text = f"{w.keep(integers.regroup_bits, 'resized')}({text}, {old}, {new})" if old != new else text
    if is_float(kinds[1]):
        text = f"list(map({w.keep(floats.from_bits(kinds[1]), f'from_bits_{kinds[1]}')}, {text}))"
    w.put(f"{w.define(op.results[0])} = {text}")


@writes("vector.shape_cast")
def shape_cast(w: FunctionWriter, op: ir.Operation) -> None:
    w.variables[op.results[0]] = w.value(ShapeCastOp(op).source)


@writes("vector.from_elements")
def from_elements(w: FunctionWriter, op: ir.Operation) -> None:
    w.put(f"{w.define(op.results[0])} = [{', '.join(w.values(list(op.operands)))}]")


@writes("vector.to_elements")
def to_elements(w: FunctionWriter, op: ir.Operation) -> None:
    w.put(f"{''.join(w.define(r) + ', ' for r in op.results)} = {w.value(*op.operands)}")


def _position(w: FunctionWriter, op: ir.Operation, key: str, first: int) -> list[str]:
    dynamic = iter(w.values(list(op.operands)[first:]))
    return [next(dynamic) if n == DYNAMIC else str(n) for n in attrs.integers(op, key)]


def _flat(position: Sequence[str], extents: Sequence[int]) -> tuple[str, int]:
    """The first lane of the sub-vector at a position, and its number of lanes."""
    size = math.prod(extents[len(position) :])
    terms = []
    for d, text in enumerate(position):
        terms.append(f"{text} * {math.prod(extents[d + 1 :])}")
    return " + ".join(terms) or "0", size


@writes("vector.extract")
def extract(w: FunctionWriter, op: ir.Operation) -> None:
    taken, result = ExtractOp(op).source, op.results[0]
    start, size = _flat(_position(w, op, "static_position", 1), shape(taken))
    source = w.value(taken)
    part = f"[{start}]" if not isinstance(result.type, ir.VectorType) else f"[{start} : {start} + {size}]"
    w.put(f"{w.define(result)} = {source}{part}")


@writes("vector.insert")
def insert(w: FunctionWriter, op: ir.Operation) -> None:
    value, target = list(op.operands)[:2]
    start, size = _flat(_position(w, op, "static_position", 2), shape(target))
    name = w.define(op.results[0])
    w.put(f"{name} = {w.value(target)}[:]")
    w.put(f"{name}[{start} : {start} + {size}] = {lanes_text(w, value)}")


@writes("vector.extractelement")
def extract_element(w: FunctionWriter, op: ir.Operation) -> None:
    source, *lanes = w.values(list(op.operands))
    w.put(f"{w.define(op.results[0])} = {source}[{lanes[0] if lanes else '0'}]")


def _numbers(op: ir.Operation, key: str) -> list[int]:
    return [int(ir.IntegerAttr(n).value) for n in op.attributes[key]]  # type: ignore[union-attr]


@writes("vector.extract_strided_slice")
def extract_slice(w: FunctionWriter, op: ir.Operation) -> None:
    (source,) = op.operands
    extents = shape(source)
    offsets, sizes, steps = (_numbers(op, key) for key in ("offsets", "sizes", "strides"))
    inner = extents[len(offsets) :]
    lanes = vector_memory.box_lanes(
        extents, (*offsets, *[0] * len(inner)), (*sizes, *inner), (*steps, *[1] * len(inner))
    )
    _emit_lane_selection(w, op, w.value(source), lanes)


def _emit_lane_selection(w: FunctionWriter, op: ir.Operation, source: str, lanes: Sequence[int]) -> None:
    if lanes == list(range(lanes[0], lanes[0] + len(lanes))):
        w.put(f"{w.define(op.results[0])} = {source}[{lanes[0]} : {lanes[0] + len(lanes)}]")
    else:
        w.put(f"{w.define(op.results[0])} = [{source}[_n] for _n in {w.keep(lanes, f'c{len(w.shared.scope)}')}]")


@writes("vector.insert_strided_slice")
def insert_slice(w: FunctionWriter, op: ir.Operation) -> None:
    value, target = op.operands
    extents, inner = shape(target), shape(value)
    missing = len(extents) - len(inner)
    lanes = vector_memory.box_lanes(
        extents, tuple(_numbers(op, "offsets")), (*[1] * missing, *inner), (1,) * len(extents)
    )
    name = w.define(op.results[0])
    w.put(f"{name} = {w.value(target)}[:]")
    w.put(f"for _n, _a in zip({w.keep(lanes, f'c{len(w.shared.scope)}')}, {w.value(value)}): {name}[_n] = _a")


@writes("vector.shuffle")
def shuffle(w: FunctionWriter, op: ir.Operation) -> None:
    first, second = op.operands
    inner = math.prod(shape(first)[1:])
    picked = [n * inner + m for n in attrs.integers(op, "mask") for m in range(inner)]
    text = f"({lanes_text(w, first)} + {lanes_text(w, second)})"
    if any(n < 0 for n in picked):
        raise NotInterpreted(f"{op.name} with poison lanes")
    w.put(f"_v = {text}")
    _emit_lane_selection(w, op, "_v", picked)


@writes("vector.interleave")
def interleave(w: FunctionWriter, op: ir.Operation) -> None:
    first, second = w.values(list(op.operands))
    w.put(f"{w.define(op.results[0])} = [_n for _p in zip({first}, {second}) for _n in _p]")


@writes("vector.deinterleave")
def deinterleave(w: FunctionWriter, op: ir.Operation) -> None:
    source = w.value(*op.operands)
    first, second = (w.define(r) for r in op.results)
    w.put(f"{first}, {second} = {source}[::2], {source}[1::2]")


@writes("vector.transpose")
def transpose(w: FunctionWriter, op: ir.Operation) -> None:
    order = attrs.integers(op, "permutation")
    (source,), name = op.operands, w.keep(vector_memory.transpose_lanes, "transpose")
    w.put(f"{w.define(op.results[0])} = {name}({w.value(source)}, {shape(source)}, {order})")


@writes("vector.create_mask", "vector.constant_mask")
def mask(w: FunctionWriter, op: ir.Operation) -> None:
    bounds = w.values(list(op.operands)) if len(op.operands) else [str(n) for n in attrs.integers(op, "mask_dim_sizes")]
    extents = shape(op.results[0])
    w.put(
        f"{w.define(op.results[0])} = {w.keep(vector_memory.create_mask, 'create_mask')}({tuple_of(bounds)}, {extents})"
    )


@writes("vector.step")
def step(w: FunctionWriter, op: ir.Operation) -> None:
    w.put(f"{w.define(op.results[0])} = list(range({shape(op.results[0])[0]}))")


# --- arithmetic -------------------------------------------------------------------------------------------------------


@writes("vector.fma")
def fma(w: FunctionWriter, op: ir.Operation) -> None:
    kind = kind_of(op.results[0].type)
    exact = w.options.exact
    lane_text = "_a * _b + _c" if exact else f"{w.keep(floats.fma(kind), f'fma_{kind}')}(_a, _b, _c)"
    w.put(f"{w.define(op.results[0])} = [{lane_text} for _a, _b, _c in zip({', '.join(w.values(list(op.operands)))})]")
    _flops(w, op.results[0], 2 * math.prod(shape(op.results[0])))


def _flops(w: FunctionWriter, value: ir.Value, number: int) -> None:
    target = destination(value)
    w.count(FLOPS, "" if target is None else w.roots.name(target), number)


def _combiner(w: FunctionWriter, op: ir.Operation, kind: str) -> str:
    """The text that combines `_a` and `_b`."""
    word = str(op.attributes["kind"]).split("<")[-1].rstrip(">")
    signs = {"add": "+", "mul": "*", "and": "&", "or": "|", "xor": "^"}
    if word in signs:
        text = f"_a {signs[word]} _b"
        if w.options.exact or word in ("and", "or", "xor") or kind in ("f64", "f32", "f16", "index"):
            return text
        if kind == "i1":
            return "_a ^ _b" if word == "add" else "_a & _b"
        return (
            f"{w.keep(floats.bf16, 'bf16')}({text})"
            if kind == "bf16"
            else integers.signed_wrap_text(text, int(kind[1:]))
        )
    if word in ("maxui", "minui"):
        bits = int(kind[1:])
        pick = w.keep(integers.larger if word == "maxui" else integers.smaller, f"lane_{word}")
        return integers.signed_wrap_text(f"{pick}(_a & {(1 << bits) - 1}, _b & {(1 << bits) - 1})", bits)
    if word not in PAIRS:
        raise NotInterpreted(f"{op.name} of kind {word}")
    return f"{w.keep(PAIRS[word], f'lane_{word}')}(_a, _b)"


@writes("vector.reduction")
def reduce(w: FunctionWriter, op: ir.Operation) -> None:
    """Emit a sequential reduction of the lanes, from the first on."""
    kind = kind_of(op.results[0].type)
    reduction = ReductionOp(op)
    text, source = _combiner(w, op, kind), w.value(reduction.source)
    has_start = len(op.operands) > 1
    name = w.define(op.results[0])
    w.put(f"_a = {w.value(reduction.start) if has_start else f'{source}[0]'}")
    w.put(f"for _b in {source}{'' if has_start else '[1:]'}: _a = {text}")
    w.put(f"{name} = _a")
    if is_float(kind):
        _flops(w, op.results[0], math.prod(shape(reduction.source)) - (not has_start))


@writes("vector.multi_reduction")
def multi_reduce(w: FunctionWriter, op: ir.Operation) -> None:
    source, start = op.operands
    extents, gone = shape(source), set(attrs.integers(op, "reduction_dims"))
    kind = kind_of(source.type)
    lanes: dict[tuple[int, ...], list[int]] = {}
    for flat, point in enumerate(itertools.product(*map(range, extents))):
        lanes.setdefault(tuple(p for d, p in enumerate(point) if d not in gone), []).append(flat)
    table = w.keep(list(lanes.values()), f"c{len(w.shared.scope)}")
    name = w.define(op.results[0])
    w.put("_v = []")
    w.put(f"for _a, _p in zip({lanes_text(w, start)}, {table}):")
    with w.text.deeper():
        w.put(f"for _b in ({w.value(source)}[_n] for _n in _p): _a = {_combiner(w, op, kind)}")
        w.put("_v.append(_a)")
    w.put(f"{name} = _v" if isinstance(op.results[0].type, ir.VectorType) else f"{name} = _v[0]")
    if is_float(kind):
        _flops(w, op.results[0], math.prod(extents))

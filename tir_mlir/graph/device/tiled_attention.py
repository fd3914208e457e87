"""Attention of short floats as a program of tiles, which tensor cores of a GPU compute in registers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import ceil, sqrt

from mlir import ir

from tir_mlir import te, topi
from tir_mlir.dialect.graph import create
from tir_mlir.dialect.ir import attrs, enter_context
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.rewrite import Matches, NodeCall, Rewriter, Rule, apply_rules, is_op, permute_type
from tir_mlir.graph.transforms.clean import clean
from tir_mlir.graph.transforms.simplify import RULES as SIMPLIFY
from tir_mlir.schedules.gpu.attention_program import PARAMS, TiledAttentionProgram, TiledOperand, TiledScores
from tir_mlir.schedules.gpu.threads import PROCESSORS
from tir_mlir.script.module import IRModule, PrimFunc, copy_function
from tir_mlir.target import AnyTarget, resolved

DTYPES = ("float16", "bfloat16")
IS_ATTENTION, IS_PERMUTED = is_op("nn.attention"), is_op("permute_dims")
_ATTENTION = IS_ATTENTION(varg_default_wildcard=True)
SWAP = [0, 2, 1, 3]
WIDEST = 128
"""Elements of a row of keys or values: a warp holds 16 rows of queries and of sums in its registers."""


def tiled_attention(graph: Graph, target: AnyTarget | str = "llvm") -> Graph:
    """Compute attention of float16 and bfloat16 a tile of keys at a time, as tensor cores of a GPU do it.

        lv = R.permute_dims(q, [0, 2, 1, 3])                       lv = R.call_tir(cls.attention, (q, k, v))
        lv1 = R.nn.attention(lv, lv_k, lv_v, layout="BHSD")   ->
        lv2 = R.permute_dims(lv1, [0, 2, 1, 3])

    The softmax is online: of each query the largest score so far, the sum of weights, and the weighted sum of values,
    scaled when a larger score comes. Weights are rounded to the type of the values, as their products need it; scores
    and sums are float32. Heads before or behind the sequence are read where they are. What remains as it is: symbolic
    sizes, a part of the keys, a single query, rows of more than 128 elements, GPUs without `mma`.
    """
    gpu = resolved(target).as_gpu()
    with enter_context():
        if gpu is None or not gpu.has("mma") or not any(_is_tiled(c) for c, _ in Rewriter(graph).calls(_ATTENTION)):
            return graph
    known: dict[str, str] = {}
    rule = Rule(_ATTENTION, partial(_write, known=known))
    return clean(apply_rules(clean(apply_rules(graph, [rule])), SIMPLIFY))


def tiled_attentions(graph: Graph, target: AnyTarget | str) -> list[tuple[PrimFunc, IRModule]]:
    """What `tiled_attention` writes for a graph: of each function what the operator computes, and the program."""
    gpu, pairs = resolved(target).as_gpu(), dict[str, tuple[PrimFunc, IRModule]]()
    with enter_context():
        calls = [call for call, _ in Rewriter(graph).calls(_ATTENTION) if gpu is not None and _is_tiled(call)]
        for call in calls:
            program = _Operands.from_call(call).program(call)
            if repr(program) not in pairs:
                pairs[repr(program)] = _Operands.from_call(call).operator(call), program.module()
    return list(pairs.values())


def _is_tiled(call: NodeCall) -> bool:
    """Whether an attention is written in tiles."""
    types = [call.type_of(value) for value in call.args]
    if len(types) > 4 or types[0].dtype not in DTYPES or any(isinstance(n, str) for t in types for n in t.shape):
        return False
    queries = types[0].shape[2 if _is_heads_first(call) else 1]
    return queries != 1 and all(int(t.shape[3]) <= WIDEST for t in types[:3])


def _is_heads_first(call: NodeCall) -> bool:
    return call.attrs.get("layout", "BSHD") == "BHSD"


def _write(call: NodeCall, _: Matches, known: dict[str, str]) -> ir.Value | None:
    """A call of the program, which equal attentions share."""
    if not _is_tiled(call):
        return None
    operands = _Operands.from_call(call)
    program = operands.program(call)
    module, key = call.rewriter.module, repr(program)
    if key not in known:
        known[key] = create.fresh_symbol(module, "attention")
        copy_function(module, program.module()["main"], known[key])
    type_ = call.struct_info if not operands.is_turned else permute_type(call.struct_info, SWAP)
    with ir.InsertionPoint(call.node.op):
        node = create.call_tir(module, known[key], operands.values, [type_], call.node.names)
    result = call.rewriter.add(node)
    return call.permute(result, SWAP) if operands.is_turned else result


@dataclass(frozen=True)
class _Operands:
    """What the program reads: for each of query, key and value whether heads are before the sequence.

    is_turned: all were put in another order for the attention, and so is its result.
    """

    values: list[ir.Value]
    heads_first: list[bool]
    is_turned: bool

    @staticmethod
    def from_call(call: NodeCall) -> _Operands:
        """The operands of an attention, before their heads were put elsewhere."""
        values, first = list(call.args), _is_heads_first(call)
        order = [first] * 3
        for number in range(3):
            permuted = call.defining_call(values[number], IS_PERMUTED)
            if permuted is not None and list(permuted.attrs.get("axes") or []) == SWAP:
                values[number], order[number] = permuted.args[0], not first
        return _Operands(values, order, first not in order)

    def operator(self, call: NodeCall) -> PrimFunc:
        """What the operator computes of the values, and what is put in another order before and after it."""
        types = [call.type_of(value) for value in self.values]
        tensors = [te.placeholder(tuple(map(int, t.shape)), t.dtype, name=f"x{n}") for n, t in enumerate(types)]
        first = _is_heads_first(call)
        query, key, value = (
            x if order == first else topi.transpose(x, SWAP)
            for x, order in zip(tensors[:3], self.heads_first, strict=True)
        )
        result = topi.nn.attention(
            query, key, value, *tensors[3:], scale=call.attrs.get("scale"), causal_mask=call.attrs.get("causal_mask"),
            layout="BHSD" if first else "BSHD",
        )  # fmt: skip
        function = te.create_prim_func([*tensors, topi.transpose(result, SWAP) if self.is_turned else result])
        facts = attrs.argument_attrs(function.func.op)
        for fact, name in zip(facts, PARAMS[: len(tensors)] + PARAMS[-1:], strict=True):  # as the program calls them
            fact[attrs.NAME] = ir.StringAttr.get(name)
        function.func.op.attributes["arg_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get(fact) for fact in facts])
        return function

    def program(self, call: NodeCall) -> TiledAttentionProgram:
        """The program of an attention."""
        first, shapes = _is_heads_first(call), [call.shape_of(value) for value in call.args]
        (b, h, n, d), (_, g, m, e) = (
            [int(shape[a]) for a in (range(4) if first else SWAP)] for shape in shapes[::2][:2]
        )
        kinds = zip("ijj", (h, g, g), (n, m, m), (d, d, e), self.heads_first, strict=True)
        q, k, v = (_operand(b, h, heads, f"v{i}", length, width, at) for i, heads, length, width, at in kinds)
        rows, columns = _tile(b * h, n, m)
        return TiledAttentionProgram(
            heads=b * h, queries=n, keys=m, width=d, values=e, q=q, k=k, v=v,
            o=_operand(b, h, h, "vi", n, e, first != self.is_turned), scores=_scores(call, b, h, n, m, d),
            dtype=call.type_of(call.args[0]).dtype, out_dtype=call.struct_info.dtype, rows=rows, columns=columns,
        )  # fmt: skip


def _operand(batch: int, heads: int, own: int, row: str, length: int, width: int, heads_first: bool) -> TiledOperand:
    """An operand of `own` heads, which `heads` of queries share."""
    b, h = ("0", "vh") if batch == 1 else (f"vh // {heads}", f"vh % {heads}")
    h = h if own == heads else f"{h} // {heads // own}"
    if heads_first:
        return TiledOperand((batch, own, length, width), f"{b}, {h}, {row}, vd")
    return TiledOperand((batch, length, own, width), f"{b}, {row}, {h}, vd")


def _scores(call: NodeCall, batch: int, heads: int, queries: int, keys: int, width: int) -> TiledScores:
    """What an attention does with its scores."""
    scale, causal = call.attrs.get("scale"), call.attrs.get("causal_mask")
    unit = 1 / sqrt(width) if scale is None else float(scale)
    ahead = None if causal is None else keys - queries if causal == "BottomRight" else 0
    if len(call.args) < 4:
        return TiledScores(unit=unit, ahead=ahead)
    shape = tuple(int(n) for n in call.shape_of(call.args[3]))
    places = (f"vh // {heads}" if batch > 1 else "0", f"vh % {heads}" if batch > 1 else "vh", "vi", "vj")
    index = ", ".join("0" if n == 1 else place for n, place in zip(shape, places[4 - len(shape) :], strict=True))
    return TiledScores(
        unit=unit, bias=TiledOperand(shape, index), bias_dtype=call.type_of(call.args[3]).dtype, ahead=ahead
    )


def _tile(heads: int, queries: int, keys: int) -> tuple[int, int]:
    """Queries and keys of a tile: as many as there are, and fewer queries where tiles are too few for all processors.
    A tile of 16 queries, one warp, would load as many keys as one of 64: predicted to take 2.4 times as long."""
    most = 64 if heads * ceil(queries / 64) >= PROCESSORS else 32
    return (next(n for n in (16, most) if queries <= n or n == most), next((n for n in (16, 32) if keys <= n), 64))

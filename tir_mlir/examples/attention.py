"""Attention by an online softmax, in tiles: a program of plain loops for `schedules.attention` on a GPU.

python -c "from tir_mlir.examples.attention import online_attention as f; print(f(2, 128, 128, 64).script())"
"""

from __future__ import annotations

from tir_mlir.schedules.gpu.attention_program import TiledAttentionProgram, TiledOperand, TiledScores
from tir_mlir.script import IRModule

HIDDEN = -1e30
"""The score of a key that a query does not see. Finite: a query without any key gets the mean of all values."""


def online_attention(
    heads: int,
    queries: int,
    keys: int,
    width: int,
    *,
    groups: int | None = None,
    causal: bool = False,
    scale: float | None = None,
    dtype: str = "float16",
    out_dtype: str = "float32",
    rows: int = 64,
    columns: int = 64,
) -> IRModule:
    """`O[h, i] = sum_j softmax_j(scale * Q[h, i] . K[h // (heads // groups), j]) V[..]`, a tile of keys at a time.

    Q: (heads, queries, width); K, V: (groups, keys, width), default one for each head; O like Q, of out_dtype.
    causal: query i sees keys up to i + keys - queries. scale: default width ** -0.5. rows, columns: the queries and
    keys of a tile; ragged ones are filled with zeros, and their scores hidden. For each tile of keys: the scores S,
    those in units of log 2 with hidden ones replaced (Y), the largest so far (M), the factor C for what was summed
    before, the weights E, their sum L, and X += E V. Raises ValueError for sizes that are not positive, and heads that
    are not multiples of the groups.
    """
    groups = heads if groups is None else groups
    if min(heads, queries, keys, width, groups, rows, columns) < 1 or heads % groups:
        raise ValueError("sizes are positive, and heads a multiple of groups")
    unit, ahead = width**-0.5 if scale is None else scale, keys - queries if causal else None
    per_head, shared = TiledOperand((heads, queries, width), "vh, vi, vd"), (groups, keys, width)
    return TiledAttentionProgram(
        heads=heads, queries=queries, keys=keys, width=width, values=width, q=per_head, o=per_head,
        k=TiledOperand(shared, f"vh // {heads // groups}, vj, vd"),
        v=TiledOperand(shared, f"vh // {heads // groups}, vj, vd"),
        scores=TiledScores(unit=unit, ahead=ahead, hidden=f"T.float32({HIDDEN})"),
        dtype=dtype, out_dtype=out_dtype, rows=rows, columns=columns,
    ).module()  # fmt: skip

"""Intrinsics of `mma.sync`, registered on demand: products by a warp, of any multiple of the hardware's shape.

    mma_load_T_a_RxC_SCOPE         C[i, k] = A[i, k]               into `mma.matrix_a`       SCOPE: shared, shared_dyn,
    mma_load_T_b_RxC_SCOPE         C[k, j] = B[k, j]               into `mma.matrix_b`              global
    mma_load_T_{a,b}_trans_RxC_SCOPE     the same: R x C as in memory, into `mma.matrix_a_trans`, `mma.matrix_b_trans`
    mma_fill_S_RxC                 C[i, j] = 0                     `mma.accumulator`
    mma_sync_MxNxK_TS              C[i, j] += A[i, k] * B[k, j]
    mma_sync_MxNxK_TS_a_trans      C[i, j] += A[k, i] * B[k, j]    also _b_trans (B[j, k]), _a_trans_b_trans
    mma_store_S_RxC_SCOPE          A[i, j] = C[i, j]
    mma_store_S_RxC_SCOPE_D        A[i, j] = D(C[i, j])            converted

T is the type of the operands and S that of the sums; one instruction multiplies M x N x K:

    T            S           M x N x K
    f16          f32, f16    16 x 8 x 16
    bf16         f32         16 x 8 x 16
    tf32         f32         16 x 8 x 8      buffers of float32; loads round to the nearest of tf32
    s8, u8       s32         16 x 8 x 32     sums wrap
    f64          f64         8 x 8 x 4

A buffer in such a scope is a matrix of whole tiles; scope and type say which lane holds which element
(`tir_mlir.dialect.analysis.fragment_layouts`). The 32 lanes of a warp, `threadIdx.x`, run each of them together.
"""

from __future__ import annotations

import re

from tir_mlir.dialect.analysis.fragment_layouts import fragment_tile
from tir_mlir.dialect.computation import TensorIntrin
from tir_mlir.intrin.matrix_text import MatrixParam, intrinsic_text

_SCOPES = {"shared": "shared", "shared_dyn": "shared.dyn", "global": "global"}
_DTYPES = {
    "f16": "float16", "bf16": "bfloat16", "tf32": "float32", "f32": "float32", "f64": "float64", "s8": "int8",
    "u8": "uint8", "s32": "int32",
}  # fmt: skip
_SUMS = {"f16": ("f32", "f16"), "bf16": ("f32",), "tf32": ("f32",), "s8": ("s32",), "u8": ("s32",), "f64": ("f64",)}
"""The types of sums of each type of operands."""
_OPERAND, _SUM = "|".join(_SUMS), "f16|f32|s32|f64"
_NAMES = {
    "load": rf"mma_load_({_OPERAND})_([ab](?:_trans)?)_(\d+)x(\d+)_(shared|shared_dyn|global)",
    "fill": rf"mma_fill_({_SUM})_(\d+)x(\d+)",
    "sync": rf"mma_sync_(\d+)x(\d+)x(\d+)_({_OPERAND})({_SUM})(_a_trans)?(_b_trans)?",
    "store": rf"mma_store_({_SUM})_(\d+)x(\d+)_(shared|shared_dyn|global)(?:_({'|'.join(_DTYPES)}))?",
}
_NUMBERS = "16, 8, 16, 0"
_ROW_BYTES = 16


def register(name: str) -> None:
    """Register the intrinsic of this name, if there is one."""
    from tir_mlir.script.parser import parse

    if (text := _text(name)) is not None:
        both = parse(text)
        TensorIntrin.register(name, both["desc"], both["impl"])


def get_mma_intrin_group(
    shape: tuple[int, int, int],
    in_dtype: str = "float16",
    out_dtype: str = "float32",
    load_scope: str = "shared",
    store_scope: str = "global",
    trans_a: bool = False,
    trans_b: bool = False,
    store_dtype: str = "",
) -> dict[str, str]:
    """The names of the intrinsics of a product of M x N x K by a warp, by `init`, `load_a`, `load_b`, `compute` and
    `store`, and of the scopes, by `scope_a` and `scope_b`.

    trans_a, trans_b: A is K x M, B is N x K in the program. store_dtype: the type in memory, out_dtype if it is empty.
    Raises ValueError for what there is not.
    """
    m, n, k = shape
    types = {dtype: word for word, dtype in _DTYPES.items() if word != "f32"}
    operand = types.get(in_dtype, in_dtype)
    sums = "f32" if out_dtype == "float32" else types.get(out_dtype, out_dtype)
    stored = {"": "", "float32": "_f32"}.get(store_dtype, f"_{types.get(store_dtype, store_dtype)}")
    load, store = load_scope.replace(".", "_"), store_scope.replace(".", "_")
    words = ["a" + "_trans" * trans_a, "b" + "_trans" * trans_b]
    sizes = [(k, m) if trans_a else (m, k), (n, k) if trans_b else (k, n)]
    names = {
        "init": f"mma_fill_{sums}_{m}x{n}",
        **{
            f"load_{word[0]}": f"mma_load_{operand}_{word}_{rows}x{columns}_{load}"
            for word, (rows, columns) in zip(words, sizes, strict=True)
        },
        "compute": f"mma_sync_{m}x{n}x{k}_{operand}{sums}" + "_a_trans" * trans_a + "_b_trans" * trans_b,
        "store": f"mma_store_{sums}_{m}x{n}_{store}" + ("" if store_dtype == out_dtype else stored),
    }
    for name in names.values():
        if _text(name) is None:
            raise ValueError(f"no intrinsic {name}: {_reason(operand, sums, shape)}")
    return {**names, **{f"scope_{word[0]}": f"mma.matrix_{word}" for word in words}}


def _reason(operand: str, sums: str, shape: tuple[int, int, int]) -> str:
    if operand not in _SUMS:
        return f"operands are of {', '.join(sorted({_DTYPES[word] for word in _SUMS}))}"
    if sums not in _SUMS[operand]:
        return f"sums of {_DTYPES[operand]} are of {', '.join(_DTYPES[word] for word in _SUMS[operand])}"
    (m, k), (_, n) = (_tile(f"mma.matrix_{word}", operand) for word in "ab")
    if any(size % side or size <= 0 for size, side in zip(shape, (m, n, k), strict=True)):
        return f"{' x '.join(map(str, shape))} is not made of {m} x {n} x {k}"
    return "scopes are shared, shared.dyn and global"


def _tile(scope: str, word: str) -> tuple[int, int]:
    layout = fragment_tile(scope, _DTYPES[word])
    assert layout is not None
    return layout.tile


def _text(name: str) -> str | None:
    """The text of an intrinsic, None if there is none of this name."""
    for kind, pattern in _NAMES.items():
        if match := re.fullmatch(pattern, name):
            parts = [int(part) if part and part.isdecimal() else part for part in match.groups()]
            return {"load": _load, "fill": _fill, "sync": _sync, "store": _store}[kind](*parts)
    return None


def _fits(shape: tuple[int, int], scope: str, word: str) -> bool:
    layout = fragment_tile(scope, _DTYPES[word])
    return layout is not None and all(n > 0 and n % side == 0 for n, side in zip(shape, layout.tile, strict=True))


def _memory(shape: tuple[int, int], word: str, scope: str) -> MatrixParam:
    size = {"16": 2, "32": 4, "64": 8}.get(word[-2:], 1)
    return MatrixParam(shape, _DTYPES[word], _SCOPES[scope], max(_ROW_BYTES // size, 1), strided=True)


def _fragments(shape: tuple[int, int], scope: str, word: str) -> MatrixParam:
    return MatrixParam(shape, _DTYPES[word], scope)


def _load(word: str, matrix: str, rows: int, columns: int, memory: str) -> str | None:
    scope, shape = f"mma.matrix_{matrix}", (rows, columns)
    if not _fits(shape, scope, word):
        return None
    return intrinsic_text(
        {"A": _memory(shape, word, memory), "C": _fragments(shape, scope, word)},
        {"i": rows, "j": columns},
        "C[vi, vj] = A[vi, vj]",
        "A",
        "C",
        f'T.tvm_load_matrix_sync(C.data, {_NUMBERS}, A.access_ptr("r"), s1, "row_major")',
    )


def _store(word: str, rows: int, columns: int, memory: str, stored: str | None = None) -> str | None:
    shape = (rows, columns)
    if not _fits(shape, "mma.accumulator", word) or stored == word:
        return None
    value = f'T.Cast("{_DTYPES[stored]}", C[vi, vj])' if stored else "C[vi, vj]"
    return intrinsic_text(
        {"A": _memory(shape, stored or word, memory), "C": _fragments(shape, "mma.accumulator", word)},
        {"i": rows, "j": columns},
        f"A[vi, vj] = {value}",
        "C",
        "A",
        f'T.tvm_store_matrix_sync(C.data, {_NUMBERS}, A.access_ptr("w"), s1, "row_major")',
    )


def _fill(word: str, rows: int, columns: int) -> str | None:
    shape = (rows, columns)
    if not _fits(shape, "mma.accumulator", word):
        return None
    return intrinsic_text(
        {"C": _fragments(shape, "mma.accumulator", word)},
        {"i": rows, "j": columns},
        f"C[vi, vj] = T.{_DTYPES[word]}(0)",
        "",
        "C",
        f"T.tvm_fill_fragment(C.data, {_NUMBERS}, T.float32(0))",
    )


def _sync(
    m: int, n: int, k: int, word: str, sums: str, trans_a: str | None = None, trans_b: str | None = None
) -> str | None:
    shapes = {"A": (k, m) if trans_a else (m, k), "B": (n, k) if trans_b else (k, n), "C": (m, n)}
    scopes = {"A": f"mma.matrix{trans_a or '_a'}", "B": f"mma.matrix{trans_b or '_b'}", "C": "mma.accumulator"}
    words = {"A": word, "B": word, "C": sums}
    if sums not in _SUMS[word] or not all(_fits(shapes[name], scopes[name], words[name]) for name in "ABC"):
        return None
    operands = ["A[vk, vi]" if trans_a else "A[vi, vk]", "B[vj, vk]" if trans_b else "B[vk, vj]"]
    if _DTYPES[word] != _DTYPES[sums]:
        operands = [f'T.Cast("{_DTYPES[sums]}", {operand})' for operand in operands]
    return intrinsic_text(
        {name: _fragments(shapes[name], scopes[name], words[name]) for name in "ABC"},
        {"i": m, "j": n, "k": k},
        f"C[vi, vj] = C[vi, vj] + {' * '.join(operands)}",
        "CAB",
        "C",
        "T.tvm_mma_sync(C.data, 0, A.data, 0, B.data, 0, C.data, 0)",
    )

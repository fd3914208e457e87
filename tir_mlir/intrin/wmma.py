"""Intrinsics of NVIDIA's tensor cores, registered on demand: products of 16 x 16 matrices of float16 by a warp.

    wmma_load_16x16x16_f16_a_SCOPE           C[i, k] = A[i, k]       into `wmma.matrix_a`    SCOPE: shared, shared_dyn,
    wmma_load_16x16x16_f16_b_SCOPE           C[k, j] = B[k, j]       into `wmma.matrix_b`           global
    wmma_load_16x16x16_f16_{a,b}_trans_SCOPE                         from memory with the axes exchanged
    wmma_fill_16x16x16_T                     C[i, j] = 0             `wmma.accumulator`      T: f16, f32
    wmma_sync_16x16x16_f16f16T               C[i, j] += A[i, k] * B[k, j]
    wmma_sync_16x16x16_f16f16T_trans         C[i, j] += A[i, k] * B[j, k]
    wmma_store_16x16x16_T_SCOPE              A[i, j] = C[i, j]       from `wmma.accumulator`

The 32 lanes of a warp, `threadIdx.x`, run each of them together: the implementations have this loop. Fragments have
no addresses: matrix functions name them by their number in the buffer. A `_trans` load of B keeps its axes as they are
in memory, and the product reads them exchanged: a fragment has the layout of its load, "col_major" for `_trans`, and
the product takes it by this layout, whatever its description says. So `tensorize` refuses a product whose description
takes a fragment in another layout than that of its load, and `verify` computes with the layout of the load.
"""

from __future__ import annotations

from collections.abc import Iterator

from tir_mlir.dialect.computation import TensorIntrin
from tir_mlir.intrin.matrix_text import MatrixParam, intrinsic_text

SIDE = 16
WARP = 32
_SCOPES = {"shared": "shared", "shared_dyn": "shared.dyn", "global": "global"}
_TYPES = {"f16": "float16", "f32": "float32"}
_START = "wmma_{}_16x16x16_"

_FRAGMENT = "{0}.data, 16, 16, 16, {0}.elem_offset // 256 + {0}.elem_offset % 256 // 16"


def register(name: str) -> None:
    """Register the intrinsic of this name, if there is one."""
    from tir_mlir.script.parser import parse

    text = dict(_intrinsics()).get(name)
    if text is not None:
        both = parse(text)
        TensorIntrin.register(name, both["desc"], both["impl"])


def get_wmma_intrin_group(
    load_scope: str, store_scope: str, in_dtype: str = "float16", out_dtype: str = "float32", trans_b: bool = False
) -> dict[str, str]:
    """The names of the intrinsics of a matrix product, by `init`, `load_a`, `load_b`, `compute` and `store`."""
    words = {dtype: word for word, dtype in _TYPES.items()}
    if in_dtype != "float16" or out_dtype not in words:
        raise ValueError(f"there are intrinsics of float16, in float16 or float32, not of {in_dtype} in {out_dtype}")
    sums, trans = words[out_dtype], "_trans" if trans_b else ""
    load, store = load_scope.replace(".", "_"), store_scope.replace(".", "_")
    names = {
        "init": f"{_START.format('fill')}{sums}",
        "load_a": f"{_START.format('load')}f16_a_{load}",
        "load_b": f"{_START.format('load')}f16_b{trans}_{load}",
        "compute": f"{_START.format('sync')}f16f16{sums}{trans}",
        "store": f"{_START.format('store')}{sums}_{store}",
    }
    unknown = [name for name in names.values() if name not in dict(_intrinsics())]
    if unknown:
        raise ValueError(f"no intrinsic {unknown[0]}; scopes are shared, shared.dyn and global")
    return names


def _intrinsics() -> Iterator[tuple[str, str]]:
    """All names, each with the text of the description and the implementation."""
    for scope, memory in _SCOPES.items():
        for matrix in "ab":
            for trans in ("", "_trans"):
                yield f"{_START.format('load')}f16_{matrix}{trans}_{scope}", _load(matrix, bool(trans), memory)
        for sums, dtype in _TYPES.items():
            yield f"{_START.format('store')}{sums}_{scope}", _store(dtype, memory)
    for sums, dtype in _TYPES.items():
        yield f"{_START.format('fill')}{sums}", _fill(dtype)
        for trans in ("", "_trans"):
            yield f"{_START.format('sync')}f16f16{sums}{trans}", _sync(dtype, bool(trans))


def _memory(dtype: str, scope: str) -> MatrixParam:
    return MatrixParam((SIDE, SIDE), dtype, scope, SIDE, strided=True)


def _fragments(name: str, dtype: str) -> MatrixParam:
    return MatrixParam((SIDE, SIDE), dtype, f"wmma.{name}", SIDE)


def _load(matrix: str, trans: bool, memory: str) -> str:
    layout = "col_major" if trans else "row_major"
    return intrinsic_text(
        {"A": _memory("float16", memory), "C": _fragments(f"matrix_{matrix}", "float16")},
        {"i": SIDE, "j": SIDE},
        "C[vi, vj] = A[vi, vj]",
        "A",
        "C",
        f'T.tvm_load_matrix_sync({_FRAGMENT.format("C")}, A.access_ptr("r"), s1, "{layout}")',
    )


def _store(dtype: str, memory: str) -> str:
    return intrinsic_text(
        {"A": _memory(dtype, memory), "C": _fragments("accumulator", dtype)},
        {"i": SIDE, "j": SIDE},
        "A[vi, vj] = C[vi, vj]",
        "C",
        "A",
        f'T.tvm_store_matrix_sync({_FRAGMENT.format("C")}, A.access_ptr("w"), s1, "row_major")',
    )


def _fill(dtype: str) -> str:
    return intrinsic_text(
        {"C": _fragments("accumulator", dtype)},
        {"i": SIDE, "j": SIDE},
        f"C[vi, vj] = T.{dtype}(0)",
        "",
        "C",
        f"T.tvm_fill_fragment({_FRAGMENT.format('C')}, T.float32(0))",
    )


def _sync(dtype: str, trans: bool) -> str:
    lhs, rhs = "A[vi, vk]", "B[vj, vk]" if trans else "B[vk, vj]"
    if dtype != "float16":
        lhs, rhs = (f'T.Cast("{dtype}", {operand})' for operand in (lhs, rhs))
    numbers = [f"{name}.data, {_FRAGMENT.format(name).split(', ', 4)[4]}" for name in "CABC"]
    params = {name: _fragments(f"matrix_{name.lower()}", "float16") for name in "AB"}
    return intrinsic_text(
        {**params, "C": _fragments("accumulator", dtype)},
        {"i": SIDE, "j": SIDE, "k": SIDE},
        f"C[vi, vj] = C[vi, vj] + {lhs} * {rhs}",
        "CAB",
        "C",
        f"T.tvm_mma_sync({', '.join(numbers)})",
    )


def _constants() -> Iterator[tuple[str, str]]:
    """TVM's names of the intrinsics' names. A load without a scope is from shared memory."""
    for name in dict(_intrinsics()):
        verb, word = name.removeprefix("wmma_").split("_16x16x16_")
        if verb == "load":
            word = word.upper().removesuffix("_SHARED").replace("_SHARED_DYN", "_DYN")
        yield f"WMMA_{verb.upper()}_16x16x16_{_constant_suffix(word)}_INTRIN", name


def _constant_suffix(word: str) -> str:
    head, _, tail = word.partition("_")
    return "_".join(part for part in (head if "f16f16" in head else head.upper(), tail.upper()) if part)


CONSTANTS = dict(_constants())


def __getattr__(name: str) -> str:
    if name in CONSTANTS:
        return CONSTANTS[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

"""Operations on the elements of fragments, on the PTX machine: each lane runs those that it holds."""

from __future__ import annotations

import numpy as np
import pytest
from programs.parsed import parse

from tir_mlir import build, interpret
from tir_mlir.errors import LoweringError

RNG = np.random.default_rng(0)
SPECIAL = np.array([np.nan, np.inf, -np.inf, -0.0, 1e-45, 3e38, 1.00390625, 1.01171875], np.float32)  # ties of bf16


def program(blocks: str, buffers: str, arguments: str) -> object:
    """A program of one warp. blocks: loops as `i:16 j*32 k!8` (* of a reduction, ! in order), statement, [init]."""
    lines = ["@T.prim_func", f"def f({arguments}):"]
    lines += [f"    {buffer}" for buffer in buffers.strip().splitlines()]
    lines += ['    for w in T.thread_binding(1, thread="threadIdx.y"):']
    for number, block in enumerate(filter(None, map(str.strip, blocks.splitlines()))):
        loops, statement, *rest = [part.strip() for part in block.split("|")]
        names = [loop.replace("*", ":").replace("!", ":").split(":") for loop in loops.split()]
        kinds = ["reduce" if "*" in loop else "opaque" if "!" in loop else "spatial" for loop in loops.split()]
        lines += [f"        for {', '.join(n for n, _ in names)} in T.grid({', '.join(e for _, e in names)}):"]
        lines += [f'            with T.block("b{number}"):']
        for (name, extent), kind in zip(names, kinds, strict=True):
            lines += [f"                v{name} = T.axis.{kind}({extent}, {name})"]
        if rest:
            lines += ["                with T.init():", f"                    {rest[0]}"]
        lines += [f"                {statement}"]
    return parse("\n".join(lines).replace("__", "") + "\n")


def tensor(name: str, shape: tuple[int, ...], dtype: str = "float32") -> str:
    return f'{name}: T.Buffer({shape}, "{dtype}")'


def fragments(name: str, shape: tuple[int, ...], scope: str, dtype: str = "float32") -> str:
    return f'{name} = T.alloc_buffer({shape}, "{dtype}", scope="mma.{scope}")\n'


X = fragments("X", (16, 32), "accumulator")
READ = "i:16 j:32 | X[vi, vj] = A[vi, vj]\n"
A32, B32 = tensor("A", (16, 32)), tensor("B", (16, 32))


def run(func, *inputs: np.ndarray, shape=(16, 32), dtype=np.float32) -> np.ndarray:
    result = np.zeros(shape, dtype)
    interpret(func, *inputs, result, target="sm_80")
    return result


def random(*shape: int) -> np.ndarray:
    values = RNG.standard_normal(shape).astype(np.float32)
    values.ravel()[: len(SPECIAL)] = SPECIAL
    return values


def test_elementwise_with_rows_and_masks():
    a, s = random(16, 32), random(16)
    func = program(
        READ
        + """i:16 | M[vi] = S[vi] * T.float32(2)
        i:16 j:32 | X[vi, vj] = T.if_then_else(vj <= vi, T.max(X[vi, vj], A[vi, vj] * M[vi]), T.float32(-1))
        i:16 j:32 | B[vi, vj] = X[vi, vj]""",
        X + fragments("M", (16,), "row"),
        f"{A32}, {tensor('S', (16,))}, {B32}",
    )
    with np.errstate(all="ignore"):
        wanted = np.where(np.arange(32) <= np.arange(16)[:, None], np.maximum(a, a * (s * 2)[:, None]), -1)
    np.testing.assert_array_equal(run(func, a, s), wanted.astype(np.float32))


@pytest.mark.parametrize("order", ["i:16 j*32", "j*32 i:16"])
@pytest.mark.parametrize(
    ("update", "init", "reference"),
    [
        ("M[vi] = T.max(M[vi], X[vi, vj])", "M[vi] = T.min_value('float32')", lambda a: a.max(1)),
        ("M[vi] = M[vi] + X[vi, vj]", "M[vi] = T.float32(0)", lambda a: a.sum(1)),
        ("M[vi] = M[vi] + X[vi, vj]", "M[vi] = T.float32(7)", lambda a: a.sum(1) + 7),
        ("M[vi] = T.min(M[vi], X[vi, vj])", "M[vi] = T.float32(0.5)", lambda a: np.minimum(a.min(1), 0.5)),
    ],
)
def test_rows(update, init, reference, order):
    a = RNG.integers(-9, 9, (16, 32)).astype(np.float32)
    func = program(
        READ + f"{order} | {update} | {init}\n" + "i:16 | B[vi] = M[vi]",
        X + fragments("M", (16,), "row"),
        f"{A32}, {tensor('B', (16,))}",
    )
    np.testing.assert_array_equal(run(func, a, shape=(16,)), reference(a))


def test_rows_that_go_on():
    """A sum that starts from what was there counts it once."""
    a, s = (RNG.integers(-9, 9, shape).astype(np.float32) for shape in ((16, 32), (16,)))
    func = program(
        READ + "i:16 | M[vi] = S[vi]\n i:16 j*32 | M[vi] = M[vi] + X[vi, vj] * X[vi, vj]\n" + "i:16 | B[vi] = M[vi]",
        X + fragments("M", (16,), "row"),
        f"{A32}, {tensor('S', (16,))}, {tensor('B', (16,))}",
    )
    np.testing.assert_array_equal(run(func, a, s, shape=(16,)), s + (a * a).sum(1))


def test_columns():
    a = RNG.integers(-9, 9, (16, 32)).astype(np.float32)
    func = program(
        READ + "i*16 j:32 | M[vj] = M[vj] + X[vi, vj] | M[vj] = T.float32(0)\n" + "j:32 | B[vj] = M[vj]",
        X + fragments("M", (32,), "column"),
        f"{A32}, {tensor('B', (32,))}",
    )
    np.testing.assert_array_equal(run(func, a, shape=(32,)), a.sum(0))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_sums_become_an_operand_in_place(dtype):
    """Conversion of registers: ties to even, NaN and infinity kept; no shuffle, no shared memory."""
    a = random(16, 32)
    func = program(
        READ
        + f"""i:16 j:32 | P[vi, vj] = T.Cast("{dtype}", X[vi, vj])
        i:16 j:32 | B[vi, vj] = T.Cast("float32", P[vi, vj])""",
        X + fragments("P", (16, 32), "matrix_a", dtype),
        f"{A32}, {B32}",
    )
    with np.errstate(all="ignore"):
        wanted = a.astype(np.float16).astype(np.float32)
    if dtype == "bfloat16":
        bits = a.view(np.uint32).astype(np.uint64)
        wanted = ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32)
        wanted[np.isnan(a)] = np.nan
    np.testing.assert_array_equal(run(func, a), wanted)
    text = build(func, target="sm_80").assembly
    assert "shfl" not in text
    assert "shared" not in text


def test_two_consumers_of_sums():
    a = random(16, 32)
    func = program(
        READ
        + """i:16 j:32 | P[vi, vj] = T.Cast("float16", X[vi, vj])
        i:16 j:32 | X[vi, vj] = X[vi, vj] + T.Cast("float32", P[vi, vj])
        i:16 j:32 | B[vi, vj] = X[vi, vj]""",
        X + fragments("P", (16, 32), "matrix_a", "float16"),
        f"{A32}, {B32}",
    )
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(run(func, a), a + a.astype(np.float16).astype(np.float32))


def test_transposed_sums_are_the_other_operand():
    """Lanes of sums of M x N hold what lanes of a matrix B of N x M do."""
    a = random(16, 32)
    func = program(
        READ
        + 'i:16 j:32 | P[vj, vi] = T.Cast("float16", X[vi, vj])\n i:16 j:32 | B[vi, vj] = T.Cast("float32", P[vj, vi])',
        X + fragments("P", (32, 16), "matrix_b", "float16"),
        f"{A32}, {B32}",
    )
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(run(func, a), a.astype(np.float16).astype(np.float32))


def test_a_row_is_stored_once_by_the_lanes_that_hold_it():
    text = build(
        program("i:16 | M[vi] = A[vi]\n i:16 | B[vi] = M[vi]", fragments("M", (16,), "row"),
                f"{tensor('A', (16,))}, {tensor('B', (16,))}"), target="sm_80").assembly  # fmt: skip
    assert text.count("st.global") == 2
    assert "setp.ne" in text


P32, Z = fragments("P", (16, 32), "matrix_a", "float32"), fragments("Z", (16, 32), "accumulator")
ROW, END = fragments("M", (16,), "row"), "\ni:16 j:32 | B[vi, vj] = X[vi, vj]"
REFUSED = {
    "an operand of tf32": (
        READ + "i:16 j:32 | P[vi, vj] = X[vi, vj]\n i:16 j:32 | X[vi, vj] = P[vi, vj]" + END, X + P32,
        "loads X, in scope mma.accumulator, of another lane: lane 1 has P[0, 1] in register 0, and needs X[0, 1], "
        "which lane 0 has in register 1; fix: copy one of them through shared memory",
    ),
    "rows and columns exchanged": (
        READ + "i:16 j:16 | Z[vi, vj] = X[vj, vi]\n i:16 j:16 | X[vi, vj] = Z[vi, vj]" + END, X + Z,
        "lane 4 has Z[1, 0] in register 0, and needs X[0, 1], which lane 0 has in register 1",
    ),
    "one element for all": (
        READ + "i:16 j:32 | Z[vi, vj] = X[vi, vj] - X[vi, 0]\n i:16 j:32 | X[vi, vj] = Z[vi, vj]" + END, X + Z,
        "lane 1 has X[0, 2] in register 0, and needs X[0, 0], which lane 0 has in register 0",
    ),
    "shifted by one": (
        READ + "i:16 j:8 | Z[vi, vj] = X[vi, vj + 1]\n i:16 j:8 | X[vi, vj] = Z[vi, vj]" + END, X + Z,
        "loads X, in scope mma.accumulator, at j + 1, which does not start at a multiple of 8",
    ),
    "a row that several lanes write": (
        READ + "i:16 j!32 | M[vi] = X[vi, vj]\n i:16 | B[vi, 0] = M[vi]", X + ROW,
        "several lanes write one element of M",
    ),
    "a sum in the order of the program": (
        READ + "i:16 | M[vi] = T.float32(0)\n i:16 j!32 | M[vi] = M[vi] + X[vi, vj]\n i:16 | B[vi, 0] = M[vi]", X + ROW,
        "declares its iters as reductions",
    ),
    "a sum that is read too early": (
        READ + "i:16 | M[vi] = T.float32(0)\n i:16 j!32 | M[vi] = T.max(M[vi], X[vi, vj]); B[vi, vj] = M[vi]", X + ROW,
        "uses M in the loop that combines it, where a lane has a part of it",
    ),
    "memory that several lanes write": (
        READ + "i:16 j*32 | B[vi, 0] = B[vi, 0] + X[vi, vj]", X, "several lanes may write one element of B",
    ),
    "memory that another lane writes": (
        READ + "i:16 j!32 | B[vi, vj] = X[vi, vj] + B[vi, 31 - vj]", X,
        "a lane uses an element of B that another one may write in the same nest",
    ),
    "half a tile": (READ + "i:10 j:32 | X[vi, vj] = T.float32(0)" + END, X, "runs over 10 rows or columns"),
    "a local buffer": (
        READ + "i:16 j:32 | Y[vi, vj] = X[vi, vj]\n i:16 j:32 | B[vi, vj] = Y[vi, vj] + X[vi, vj]",
        X + 'Y = T.alloc_buffer((16, 32), scope="local")\n', "Y, in scope local, is used together with fragments",
    ),
    "a scope without a layout": (
        READ + END, X.replace("mma.", "wmma."), "whose layout is not known; fix: scope mma.accumulator",
    ),
    "rows that are no tile": (
        "i:10 | M[vi] = A[vi, 0]\n i:10 | B[vi, 0] = M[vi]", ROW.replace("16", "10"),
        "has shape (10,); fix: one dimension",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    blocks, buffers, message = REFUSED[name]
    with pytest.raises(LoweringError) as error:
        build(program(blocks, buffers, f"{A32}, {B32}"), target="sm_80")
    assert message in str(error.value)

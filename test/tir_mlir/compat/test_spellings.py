"""Programs run unchanged in the classical spelling of TVM and in today's."""

import sys
import types

import numpy as np
import pytest

CLASSICAL = """
import tvm
import tvm.testing
from tvm import te, tir
from tvm.script import ir as I
from tvm.script import tir as T
from tvm.tir.schedule.testing import assert_structural_equal_ignore_global_symbol, verify_trace_roundtrip


@T.prim_func
def matmul(a: T.handle, b: T.handle, c: T.handle) -> None:
    A = T.match_buffer(a, [32, 32])
    B = T.match_buffer(b, [32, 32])
    C = T.match_buffer(c, [32, 32])
    for i, j, k in T.grid(32, 32, 32):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = 0.0
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]


@T.prim_func
def tiled(a: T.handle, b: T.handle, c: T.handle) -> None:
    A = T.match_buffer(a, [32, 32])
    B = T.match_buffer(b, [32, 32])
    C = T.match_buffer(c, [32, 32])
    for i, j_0 in T.grid(32, 8):
        for k in T.serial(32, annotations={"pragma": 1}):
            for j_1 in T.vectorized(4):
                with T.block("C"):
                    T.block_attr({"note": "x"})
                    x = T.axis.spatial(32, i)
                    y = T.axis.spatial(32, j_0 * 4 + j_1)
                    r = T.axis.reduce(32, k)
                    with T.init():
                        C[x, y] = T.float32(0)
                    C[x, y] += A[x, r] * B[r, y]


def schedule():
    sch = tir.Schedule(matmul, debug_mask="all", seed=1)
    block = sch.get_block("C", func_name="main")
    i, j, k = sch.get_loops(block)
    j_0, j_1 = sch.split(j, factors=[None, 4])
    sch.reorder(i, j_0, k, j_1)
    sch.vectorize(j_1)
    sch.annotate(k, "pragma", 1)
    sch.annotate(block, "note", "x")
    assert isinstance(block, tir.schedule.BlockRV) and isinstance(i, tir.schedule.LoopRV)
    assert sch.get(j_1).extent == 4 and sch.get(j_1).kind == tir.ForKind.VECTORIZED
    assert dict(sch.get(k).annotations) == {"pragma": 1}
    tvm.ir.assert_structural_equal(tiled, sch.mod["main"])
    tvm.ir.assert_structural_equal(tvm.IRModule({"main": tiled}), sch.mod)
    assert_structural_equal_ignore_global_symbol(tiled.with_attr("global_symbol", "main"), sch.mod["main"])
    verify_trace_roundtrip(sch, mod=matmul)
    try:
        sch.parallel(k)
    except tir.ScheduleError as error:
        refused = str(error)
    assert "depend on each other" in refused
    return sch


sch = schedule()
index_map = tir.IndexMap.from_func(lambda i, j: (tir.floordiv(i, 16), T.floormod(i, 16), j))
n = te.var("n")
X = te.placeholder((n,), name="X")
Y = te.compute((n,), lambda i: tir.if_then_else(i < 4, X[i], tir.const(0, "float32")), name="Y")
selected = te.create_prim_func([X, Y])


@I.ir_module
class Two:
    @T.prim_func(private=True)
    def first(A: T.Buffer((4,), "float32")):
        for i in range(4):
            A[i] = 1.0

    @T.prim_func
    def main(A: T.Buffer((4,), "float32")):
        for i in range(4):
            A[i] = 2.0


if __name__ == "__main__":
    tvm.testing.main()
"""

TODAY = {
    "from tvm import te, tir": "from tvm import s_tir, te, tirx",
    "from tvm.script import tir as T": "from tvm.script import tirx as T",
    "tvm.tir.schedule.testing": "tvm.s_tir.schedule.testing",
    "@T.prim_func\n": "@T.prim_func(s_tir=True)\n",
    "T.block(": "T.sblock(",
    "T.block_attr(": "T.sblock_attr(",
    "get_block(": "get_sblock(",
    "tir.schedule.BlockRV": "s_tir.schedule.SBlockRV",
    "tir.schedule.LoopRV": "s_tir.schedule.LoopRV",
    " tir.Schedule": " s_tir.Schedule",
    "tir.ForKind": "tirx.ForKind",
    " tir.floordiv": " tirx.floordiv",
    "(tir.floordiv": "(tirx.floordiv",
    "tir.IndexMap": "s_tir.IndexMap",
    "tir.if_then_else": "tirx.if_then_else",
    "tir.const": "tirx.const",
}


def today(text: str) -> str:
    for old, new in TODAY.items():
        text = text.replace(old, new)
    return text


def run(text: str, tmp_path) -> dict:
    path = tmp_path / "program.py"
    path.write_text(text)
    module = types.ModuleType("program")
    sys.modules["program"] = module
    try:
        exec(compile(text, str(path), "exec"), module.__dict__)
    finally:
        del sys.modules["program"]
    return module.__dict__


@pytest.mark.parametrize("spelling", [str, today], ids=["classical", "today"])
def test_a_program_runs_unchanged(spelling, tvm, tmp_path):
    names = run(spelling(CLASSICAL), tmp_path)
    assert repr(names["index_map"]) == "lambda i, j: (i // 16, i % 16, j)"
    a, b = (np.random.default_rng(0).random((32, 32), dtype=np.float32) for _ in range(2))
    c = tvm.nd.empty((32, 32))
    tvm.build(names["sch"].mod, target=tvm.target.Target("llvm"))["main"](tvm.nd.array(a), tvm.nd.array(b), c)
    tvm.testing.assert_allclose(c.numpy(), a @ b, rtol=1e-5)
    assert set(names["Two"].functions) == {"first", "main"}
    assert "T.if_then_else(v_i < 4, X[v_i], T.float32(0.0))" in names["selected"].script()


def test_the_two_spellings_are_one_program(tvm, tmp_path):
    one, other = run(CLASSICAL, tmp_path), run(today(CLASSICAL), tmp_path)
    tvm.ir.assert_structural_equal(one["tiled"], other["tiled"])
    tvm.ir.assert_structural_equal(one["Two"], other["Two"])


# ---- equality

BASE = """
@T.prim_func
def f(A: T.Buffer((16, 4), "float32"), B: T.Buffer((16, 4), "float32")):
    C = T.alloc_buffer((16, 4), scope="shared")
    for i, j in T.grid(16, 4):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = A[vi, vj]
    for i in range(16):
        for j in T.vectorized(4):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.block_attr({"k": 1})
                B[vi, vj] = C[vi, vj] + 1.0
"""


def parsed(text: str):
    from tir_mlir.script import parse

    module = parse("from tvm.script import tir as T\n" + text)
    return module[next(iter(module))]


@pytest.mark.parametrize(
    "change",
    [
        ("T.vectorized", "T.parallel"),
        ('"shared"', '"local"'),
        ('{"k": 1}', '{"k": 2}'),
        ('{"k": 1}', '{"l": 1}'),
        ("for i in range(16):\n        for j in", "for i in T.unroll(16):\n        for j in"),
        ("C[vi, vj] + 1.0", "C[vi, vj] + 2.0"),
        ("C[vi, vj] + 1.0", "1.0 + C[vi, vj]"),
        ("C[vi, vj] + 1.0", "C[15 - vi, vj] + 1.0"),
        ('A: T.Buffer((16, 4), "float32")', 'A: T.Buffer((32, 4), "float32")'),
        ('with T.block("C"):', 'with T.block("C"):\n            T.reads(A[0:16, 0:4])'),
    ],
    ids=lambda change: change[1][:24],
)
def test_what_counts(tvm, change):
    first, other = parsed(BASE), parsed(BASE.replace(*change))
    assert not tvm.ir.structural_equal(first, other)
    with pytest.raises(tvm.TVMError, match=r"the programs differ: line \d+"):
        tvm.ir.assert_structural_equal(first, other)


def test_orders_count(tvm):
    first = parsed(BASE)
    swapped = parsed(BASE.replace("for i, j in T.grid(16, 4)", "for j, i in T.grid(4, 16)"))
    assert not tvm.ir.structural_equal(first, swapped)


def test_what_does_not_count(tvm):
    renamed = BASE
    for old, new in {"vi": "p", "vj": "q", 'T.block("C")': 'T.block("x")', "def f": "def g", "B": "out"}.items():
        renamed = renamed.replace(old, new)
    renamed = renamed.replace("T.outuffer", "T.Buffer")
    first, other = parsed(BASE), parsed(renamed)
    assert tvm.ir.structural_equal(first, other, map_free_vars=True)
    assert tvm.ir.structural_hash(first) == tvm.ir.structural_hash(other)
    tvm.ir.assert_structural_equal(first.with_attr("global_symbol", "h"), other.without_attr("global_symbol"))
    assert not tvm.ir.structural_equal(first.with_attr("tir.noalias", True), other)
    assert not tvm.ir.structural_equal(first, tvm.IRModule({"main": other}))


GUARDED = """
@T.prim_func
def f(A: T.Buffer((14,), "float32")):
    for i_0, i_1, j in T.grid(2, 3, 3):
        with T.block("A"):
            T.where(i_0 * 9 + i_1 * 3 + j < 14)
            vi = T.axis.spatial(14, i_0 * 9 + i_1 * 3 + j)
            A[vi] = 0.0
"""


def test_conditions_that_follow_do_not_count(tvm):
    first = parsed(GUARDED)
    for more in ("< 14 and i_0 * 3 + i_1 < 5", "< 14 and j < 3", "< 14 and i_0 * 9 + i_1 * 3 + j < 15"):
        other = parsed(GUARDED.replace("< 14)", f"{more})"))
        assert "and" in other.script()
        assert tvm.ir.structural_equal(first, other)
        assert tvm.ir.structural_hash(first) == tvm.ir.structural_hash(other)
    whole = GUARDED.replace("T.grid(2, 3, 3)", "T.grid(1, 2, 7)").replace("i_1 * 3", "i_1 * 7")
    assert tvm.ir.structural_equal(parsed(whole), parsed(whole.replace("T.where", "# T.where")))
    assert not tvm.ir.structural_equal(parsed(whole), first)


def test_attributes_of_functions(tvm):
    func = parsed(BASE)
    more = func.with_attr({"a": 1, "b": "x"}).with_attr("c", [1, 2])
    assert more.attrs == {"global_symbol": "f", "a": 1, "b": "x", "c": [1, 2]}
    assert more.without_attr("a").attrs == {"global_symbol": "f", "b": "x", "c": [1, 2]}
    assert func.attrs == {"global_symbol": "f"}
    assert list(tvm.IRModule.from_expr(func).functions) == ["f"]
    assert list(tvm.IRModule.from_expr(func.without_attr("global_symbol")).functions) == ["main"]


def test_constants_have_types(tvm):
    from tvm import te, tir

    one = tir.const(1, "int64")
    assert (one, one.value, one.dtype, tir.const(2.5).dtype, tir.IntImm("int8", 3) + 1) == (1, 1, "int64", "float32", 4)
    a = te.placeholder((4,), "int64", name="A")
    b = te.compute((4,), lambda i: a[i] + one, name="B")
    assert "T.int64(1)" in te.create_prim_func([a, b]).script()
    assert tvm.DataType("float16").bits == 16 and tvm.DataType("int32") == "int32"
    with pytest.raises(tvm.TVMError, match='dtype "floaty" is not supported'):
        tvm.DataType("floaty")
    with pytest.raises(tvm.TVMError, match="a constant must be a number"):
        tir.const("x")


def test_intrinsics_of_single_processors_say_so(tvm):
    from tvm.tir.tensor_intrin.x86 import VNNI_DOT_16x4_INTRIN  # type: ignore[import-not-found]

    import tir_mlir.compat

    with pytest.raises(tir_mlir.compat.NotInCompat, match=r"no target intrinsics.*TensorIntrin\.register"):
        str.lower(VNNI_DOT_16x4_INTRIN())

"""Functions made by hand, and `.mlir` text: the same module that the script gives."""

import pytest

from tir_mlir.dialect.diagnostics import ScriptError
from tir_mlir.dialect.ir import Block, Loop, entered, funcs, is_block, is_loop, ops
from tir_mlir.script import IRModule, parse
from tir_mlir.script.builder import FuncBuilder
from tir_mlir.script.structural_equal import difference

MATMUL = """
@T.prim_func
def main(A: T.Buffer((128, 128)), B: T.Buffer((128, 128)), C: T.Buffer((128, 128))):
    for i, j, k in T.grid(128, 128, 128):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = 0.0
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
"""


def matmul() -> FuncBuilder:
    with FuncBuilder("main") as f:
        A, B, C = (f.buffer(n, (128, 128), "float32") for n in "ABC")
        with f.grid(128, 128, 128, names="ijk") as (i, j, k):
            axes = [f.spatial("vi", 128, i), f.spatial("vj", 128, j), f.reduce("vk", 128, k)]
            with f.block("C", axes) as (vi, vj, vk):
                with f.init():
                    C[vi, vj] = 0.0
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
    return f


def test_by_hand_and_by_script():
    assert difference(matmul().module.mlir, parse(MATMUL).mlir) is None


def test_ops_made_by_hand_have_the_line_of_the_caller():
    module = matmul().module
    with entered():
        places = {op.name: str(op.location) for op in ops(module.mlir.operation)}
    assert all("test_builder.py" in places[n] for n in ("affine.for", "affine.parallel", "affine.load", "affine.store"))


def test_sizes_guards_and_words():
    with FuncBuilder("f", attributes={"tir.noalias": True}) as f:
        A = f.buffer("A", ("n", 16), "float16")
        f.scalar("alpha", "float32")
        n, alpha = f.size("n"), f.size("alpha")
        Y = f.alloc("Y", (n, 16), "float32", "global.acc")
        with f.grid(n, 2, 10, names=["i", "j", "k"], kind="parallel") as (i, j, k):
            axes = [f.spatial("vi", n, i), f.spatial("vj", 16, j * 10 + k)]
            with f.block("Y", axes, where=j * 10 + k < 16) as (vi, vj):
                f.annotate({"pragma": 1})
                Y[vi, vj] = f.math("max", f.math("Cast", "float32", A[vi, vj]) * alpha, 0) - 1
                with f.if_((vj >= 1) & (vj < 4)):
                    Y[vi, vj] = f.math("Select", A[vi, vj] > 0, 1.0, -alpha)
        f.call_extern("g", Y.access_ptr("rw"), 3)
    text = f.module.script()
    assert difference(f.module.mlir, parse(text).mlir) is None
    for part in ("T.where(j * 10 + k < 16)", "T.parallel", 'T.block_attr({"pragma": 1})', "if vj >= 1 and vj < 4:"):
        assert part in text


def test_two_functions_in_one_module():
    first = matmul()
    with FuncBuilder("other", first.module) as f:
        A = f.buffer("A", (4,), "int32")
        with f.grid(4) as (i,), f.block("A", [f.spatial("vi", 4, i)]) as (vi,):
            A[vi] = vi * 2 + 1
    assert list(first.module) == ["main", "other"]


def test_what_a_builder_refuses():
    with pytest.raises(ScriptError, match="buffer A has 2 axes but 1 indices"):
        with FuncBuilder("f") as f:
            A = f.buffer("A", (4, 4))
            A[0] = 1.0
    with pytest.raises(ScriptError, match="comes too late"):
        with FuncBuilder("f") as f:
            f.buffer("A", (4, 4))
            f.start()
            f.buffer("B", (4, 4))
    with pytest.raises(ScriptError, match="A is written at index 4"):
        with FuncBuilder("f") as f:
            A = f.buffer("A", (4,))
            with f.grid(5) as (i,):
                A[i] = 1.0
    with pytest.raises(ScriptError, match="a term has no truth value"):
        with FuncBuilder("f") as f:
            A = f.buffer("A", (4,))
            if A[0] > 0:
                pass


# ---- .mlir

PLAIN = """
func.func @main(%A: memref<8xf32>, %B: memref<8xf32> {tir.name = "out"}) {
  affine.for %i = 0 to 8 {
    affine.parallel (%v) = (%i) to (%i + 1) {
      %x = affine.load %A[%v] : memref<8xf32>
      affine.store %x, %B[%v] : memref<8xf32>
    } {tir.block = "copy", tir.iters = ["S"], tir.min = affine_map<() -> (0)>, tir.extent = affine_map<() -> (8)>}
  }
  return
}
"""


def test_missing_names_and_ids_are_given():
    mod = IRModule.from_mlir(PLAIN)
    with entered():
        (func,) = funcs(mod.mlir)
        loop = next(Loop(op) for op in ops(func.op) if is_loop(op))
        block = next(Block(op) for op in ops(func.op) if is_block(op))
        assert [b.name for b in func.params] == ["arg0", "out"]
        assert loop.name == "i0" and block.iters[0].name == "v0"
        assert len({func.id, loop.id, block.id}) == 3 and min(func.id, loop.id, block.id) >= 0
    assert difference(mod.mlir, parse(mod.script()).mlir) is None


def test_text_of_a_module_comes_back():
    mod = matmul().module
    again = IRModule.from_mlir(mod.text())
    assert again.text() == mod.text()


def test_a_file(tmp_path):
    path = tmp_path / "copy.mlir"
    path.write_text(PLAIN)
    assert list(IRModule.from_mlir(str(path))) == ["main"]
    with pytest.raises(ScriptError, match="there is no file"):
        IRModule.from_mlir(str(tmp_path / "none.mlir"))


@pytest.mark.parametrize(
    ("old", "new", "message", "line"),
    [
        ("affine.store %x", "affine.stor %x", "custom op 'affine.stor' is unknown", 6),
        ("affine.load %A[%v]", "affine.load %Z[%v]", "undeclared SSA value", 5),
        ("to (%i + 1)", "to (%i + 2)", "not a single point", 4),
        ("to 8 {", "to 9 {", "iter v0 has the domain", 4),
        ("%B[%v]", "%B[%v + 1]", "out is written at index 8", 6),
        (", tir.extent = affine_map<() -> (8)>", "", "has no attribute tir.extent", 4),
    ],
)
def test_malformed_text(tmp_path, old: str, new: str, message: str, line: int):
    path = tmp_path / "copy.mlir"
    path.write_text(PLAIN.replace(old, new))
    with pytest.raises(ScriptError, match=message) as caught:
        IRModule.from_mlir(str(path))
    assert caught.value.lineno == line and f"copy.mlir:{line}" in str(caught.value)

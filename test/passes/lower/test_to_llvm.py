"""Conditions, the floating-point policy, scopes, the C interface, arithmetic, and unsupported programs."""

import re
import warnings

import numpy as np
import pytest
from harness import ROOT
from harness.lowered import passed, run
from mlir import ir
from programs.parsed import parse
from programs.short import main, nest, sblock

from tir_mlir import build
from tir_mlir.dialect.diagnostics import LoweringError, TirError
from tir_mlir.dialect.ir import enter_context
from tir_mlir.passes.lower import LOWERINGS, lower_to_llvm, pipeline
from tir_mlir.passes.lower.registry import content_of

RNG = np.random.default_rng(3)
FORBIDDEN = (
    "affine-super-vectorize",
    "affine-loop-fusion",
    "scf-parallel-loop-fusion",
    "affine-data-copy-generate",
    "affine-parallelize",
)


def lowered(source: str, **options) -> str:
    with enter_context():
        module = ir.Module.parse(source)
        lower_to_llvm(module, **options)
        return str(module)


def test_a_name_that_is_the_symbol_of_another_function_is_refused():
    with pytest.raises(LoweringError, match=r"main and tir\.main, the symbol of the code of main; rename one"):
        lowered("func.func @main() { return }\nfunc.func @tir.main() { return }")


def test_no_upstream_pass_with_open_wrong_code_reports():
    for parallel in (False, True):
        used = {re.split(r"[{(]", name)[0] for name in pipeline.pass_names(parallel)}
        assert not used & set(FORBIDDEN)


def test_passes_for_bf16_and_math_run_only_where_there_is_some():
    for element, math in (("f32", False), ("bf16", False), ("f32", True), ("bf16", True)):
        work = "math.sqrt %x" if math else "arith.addf %x, %x"
        timing: dict[str, float] = {}
        source = f"""
func.func @main(%A: memref<4x{element}>) attributes {{tir.id = 0 : i64}} {{
  affine.for %i = 0 to 4 {{
    %x = affine.load %A[%i] : memref<4x{element}>
    %y = {work} : {element}
    affine.store %y, %A[%i] : memref<4x{element}>
  }}
  return
}}"""
        text = lowered(source, timing=timing)
        assert "llvm.func @tir.main" in text
        assert ("tir-lower-bf16" in timing) == ("tir-lower-bf16-moves" in timing) == (element == "bf16")
        assert ("tir-lower-math-polynomials" in timing) == math


def test_every_pass_is_listed_and_explained():
    assert set(pipeline.MODULE_PASSES) < set(LOWERINGS)
    for one in LOWERINGS.values():
        assert one.help and one.name.startswith("tir-")
        assert "-->" in (one.run.__doc__ or "")


def _lit_programs():
    """The programs that the lit tests of the lowering passes lower, one of each file."""
    for file in sorted((ROOT / "test/lit/passes/lower").rglob("*.mlir")):
        try:
            yield ir.Module.parse(file.read_text().split("// -----")[0])
        except ir.MLIRError:  # the test of a parse error
            continue


def test_a_pass_that_is_left_out_by_the_content_of_the_module_would_change_nothing():
    left_out = set[str]()
    with enter_context(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for module in _lit_programs():
            content, before = content_of(module), str(module)
            for name in pipeline.MODULE_PASSES:
                try:
                    LOWERINGS[name].run(module)
                except TirError:
                    break
                after = str(module)
                if before != after:
                    assert LOWERINGS[name].is_needed(content), name
                elif not LOWERINGS[name].is_needed(content):
                    left_out.add(name)
                before = after
    assert left_out == {name for name in pipeline.MODULE_PASSES if LOWERINGS[name].works_on}


def test_conditions_are_decided_by_the_ranges():
    source = """
func.func @main(%Y: memref<64xf32>) attributes {tir.id = 0 : i64} {
  %one = arith.constant 1.0 : f32
  affine.for %i = 0 to 4 { affine.for %j = 0 to 16 {
    affine.if affine_set<(d0, d1) : (-d0 * 16 - d1 + 63 >= 0)>(%i, %j) {
      affine.store %one, %Y[%i * 16 + %j] : memref<64xf32>
    }
    affine.if affine_set<(d0) : (d0 - 16 >= 0)>(%j) { affine.store %one, %Y[0] : memref<64xf32> }
    affine.if affine_set<(d0, d1) : (d0 >= 0, d0 - d1 >= 0)>(%i, %j) { affine.store %one, %Y[1] : memref<64xf32> }
    %two = affine.if affine_set<(d0) : (d0 - 5 >= 0)>(%i) -> f32 {
      affine.yield %one : f32
    } else {
      %t = arith.addf %one, %one : f32
      affine.yield %t : f32
    }
    affine.store %two, %Y[2] : memref<64xf32>
  } }
  return
}"""
    text = passed(source, "tir-lower-conditions")
    assert text.count("affine.if") == 1 and "affine_set<(d0, d1) : (d0 - d1 >= 0)>" in text
    y = np.zeros(64, np.float32)
    run(source, y)
    assert y[2] == 2 and (np.delete(y, 2) == 1).all()


def reduction(kinds: str, store: str = "%C[%vi]") -> str:
    return f"""
func.func @main(%A: memref<8x8xf32>, %C: memref<8xf32>) attributes {{tir.id = 0 : i64}} {{
  affine.for %i = 0 to 8 {{ affine.for %k = 0 to 8 {{
    affine.parallel (%vi, %vk) = (%i, %k) to (%i + 1, %k + 1) {{
      %c = affine.load %C[%vi] : memref<8xf32>
      %a = affine.load %A[%vi, %vk] : memref<8x8xf32>
      %p = arith.mulf %a, %a : f32
      %s = arith.addf %c, %p : f32
      affine.store %s, {store} : memref<8xf32>
    }} {{tir.block = "b", tir.iters = [{kinds}], tir.names = ["vi", "vk"], tir.min = affine_map<() -> (0, 0)>,
       tir.extent = affine_map<() -> (8, 8)>, tir.syms = []}}
  }} }}
  return
}}"""


def test_only_declared_reductions_may_be_reassociated():
    text = passed(reduction('"S", "R"'), "tir-lower-fastmath")
    assert re.search(r"mulf.*fastmath<contract>", text) and re.search(r"addf.*fastmath<reassoc,contract>", text)
    assert "fastmath" not in passed(reduction('"S", "O"'), "tir-lower-fastmath")
    assert "fastmath" not in passed(reduction('"S", "R"', "%C[%vi - %vi]"), "tir-lower-fastmath")


def test_scopes_go_from_every_type():
    source = """
func.func private @use(memref<4xf32, "shared">)
func.func @main(%A: memref<4xf32, "shared"> {tir.name = "A"}) attributes {tir.id = 0 : i64} {
  %v = memref.subview %A[0] [2] [1] : memref<4xf32, "shared"> to memref<2xf32, strided<[1]>, "shared">
  %t = memref.alloc() {tir.name = "t"} : memref<4xf32, "local">
  func.call @use(%A) : (memref<4xf32, "shared">) -> ()
  return
}"""
    text = passed(source, "tir-lower-scopes")
    assert "shared" not in text and "local" not in text and "tir." not in text and "strided<[1]>" in text


COPY = """
func.func @main(%A: memref<4xf32>, %n: index, %B: memref<?x?xf32, strided<[?, 1], offset: ?>>)
    attributes {tir.id = 0 : i64, tir.attrs = {tir.noalias = ALIAS}} {
  affine.for %i = 0 to 4 {
    %x = affine.load %A[%i] : memref<4xf32>
    affine.store %x, %B[0, %i] : memref<?x?xf32, strided<[?, 1], offset: ?>>
  }
  return
}
func.func private @helper(%x: f32) -> f32 { return %x : f32 }
"""


def test_the_c_interface_and_promises():
    text = lowered(COPY.replace("ALIAS", "true"))
    assert "_mlir_ciface_main" in text and "_mlir_ciface_helper" not in text
    assert "llvm.func internal @tir.helper" in text
    header = text[text.index("llvm.func @tir.main(") :].split("{\n", 1)[0]
    arguments = header.split("(", 1)[1].split(", %")
    marked = [i for i, a in enumerate(arguments) if "llvm.noalias" in a]
    assert marked == [1, 7]
    assert "noalias" not in lowered(COPY.replace("ALIAS", "false"))


def unary(dtype: str, op: str) -> str:
    return f"""
func.func @main(%X: memref<16x{dtype}>, %Y: memref<16x{dtype}>) attributes {{tir.id = 0 : i64}} {{
  affine.for %i = 0 to 16 {{
    %x = affine.load %X[%i] : memref<16x{dtype}>
    %y = {op} %x : {dtype}
    affine.store %y, %Y[%i] : memref<16x{dtype}>
  }}
  return
}}"""


@pytest.mark.parametrize("kind", ["", "vectorized"])
@pytest.mark.parametrize(
    ("op", "reference"),
    [
        ("math.exp", np.exp),
        ("math.sqrt", np.sqrt),
        ("math.tanh", np.tanh),
        ("math.rsqrt", lambda x: 1 / np.sqrt(x)),
        ("math.floor", np.floor),
        ("math.log", np.log),
    ],
)
@pytest.mark.parametrize(("dtype", "numpy"), [("f16", np.float16), ("f32", np.float32), ("f64", np.float64)])
def test_math(op, reference, dtype, numpy, kind):
    x = (RNG.random(16) * 4 + 0.1).astype(numpy)
    y = np.zeros_like(x)
    source = unary(dtype, op)
    if kind:
        source = source.replace("  }\n  return", f'  }} {{tir.kind = "{kind}"}}\n  return')
    run(source, x, y)
    np.testing.assert_allclose(y, reference(x), rtol=2e-3 if numpy is np.float16 else 1e-6)


@pytest.mark.parametrize("op", ["math.exp", "math.sqrt"])
def test_bfloat16_needs_no_support_library(op):
    x = (RNG.random(16) * 4 + 0.1).astype(np.float32)
    bits = (x.view(np.uint32) >> 16).astype(np.uint16)
    out = np.zeros_like(bits)
    twice = unary("bf16", op).replace(f"%y = {op} %x", f"%z = arith.addf %x, %x : bf16\n%y = {op} %z")
    run(twice, bits.view(np.int16), out.view(np.int16))
    got = (out.astype(np.uint32) << 16).view(np.float32)
    rounded = (bits.astype(np.uint32) << 16).view(np.float32) * 2
    np.testing.assert_allclose(got, np.exp(rounded) if op == "math.exp" else np.sqrt(rounded), rtol=2e-2)


@pytest.mark.parametrize("n", [1, 15, 16, 17, 127])
def test_reversed_bfloat16_rows(n):
    """LLVM ended the process over lanes that it put together one by one, on a CPU that has them."""
    program = parse(
        main(
            f"A:3x{n}:bfloat16 B:3x{n}:bfloat16",
            nest(f"i:3 j:{n}:vectorized", sblock("B", "SS i j", f"B[2 - vi, {n} - 1 - vj] = A[vi, vj]")),
        )
    )
    a = RNG.integers(0, 1 << 16, (3, n)).astype(np.uint16)
    b = np.zeros_like(a)
    build(program)["main"](a, b)
    np.testing.assert_array_equal(b, a[::-1, ::-1])


def test_integer_division_rounds_down():
    source = """
func.func @main(%X: memref<16xi32>, %Q: memref<16xi32>, %R: memref<16xi32>) attributes {tir.id = 0 : i64} {
  %five = arith.constant 5 : i32
  affine.for %i = 0 to 16 {
    %x = affine.load %X[%i] : memref<16xi32>
    %q = arith.floordivsi %x, %five : i32
    %m = arith.muli %q, %five : i32
    %r = arith.subi %x, %m {tir.op = "floormod"} : i32
    affine.store %q, %Q[%i] : memref<16xi32>
    affine.store %r, %R[%i] : memref<16xi32>
  }
  return
}"""
    x = np.arange(-8, 8, dtype=np.int32)
    q, r = np.zeros_like(x), np.zeros_like(x)
    run(source, x, q, r)
    np.testing.assert_array_equal(q, x // 5)
    np.testing.assert_array_equal(r, x % 5)


def test_an_op_without_a_way_down_is_named():
    source = """
func.func @main(%A: memref<4x4xf32>) attributes {tir.id = 0 : i64} {
  %e = tensor.empty() : tensor<4xf32> loc("user.py":7:3)
  return
}"""
    with pytest.raises(LoweringError, match=r"user\.py:7.*tensor\.empty|tensor\.empty"):
        lowered(
            source.replace(
                "return",
                "%z = arith.constant 0 : index\n%x = tensor.extract %e[%z] : tensor<4xf32>\n"
                "affine.store %x, %A[0, 0] : memref<4x4xf32>\nreturn",
            )
        )


def test_an_unknown_target_is_refused():
    with pytest.raises(LoweringError, match=r'target "cuda" is not supported.*"llvm"'):
        lowered("func.func @main() { return }", target="cuda")


def test_timing_by_pass():
    timing: dict[str, float] = {}
    lowered("func.func @main() { return }", timing=timing)
    assert set(pipeline.MODULE_PASSES) <= set(timing)

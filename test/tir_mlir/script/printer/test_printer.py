"""Hand-written modules in the encoding, and the TVMScript that they print as."""

import textwrap
from pathlib import Path

import pytest
from mlir import ir

from tir_mlir.dialect.diagnostics import TirError
from tir_mlir.dialect.ir import enter_context
from tir_mlir.script.printer import script
from tir_mlir.script.structural_equal import difference, equal

HERE = Path(__file__).parent


def module(text: str) -> ir.Module:
    with enter_context():
        return ir.Module.parse(text)


def function(body: str, params: str = "", attributes: str = "", visibility: str = "") -> ir.Module:
    return module(f"func.func {visibility} @f({params}) attributes {{{attributes}}} {{\n{body}\nreturn\n}}")


def lines(mod: ir.Module, **options) -> str:
    """The printed body of the only function."""
    text = script(mod, **options).split("):\n", 1)[1]
    return textwrap.dedent(text).strip()


def signature(mod: ir.Module) -> str:
    return next(line.strip() for line in script(mod).splitlines() if "def " in line)


A16 = '%A: memref<16xf32> {tir.name = "A"}'
B16 = '%B: memref<16xf32> {tir.name = "B"}'


def test_the_last_state_of_the_chapter():
    text = script(module((HERE / "chapter_tensorized.mlir").read_text()))
    assert text == (HERE / "chapter_tensorized.txt").read_text().rstrip("\n")


# --- expressions ----------------------------------------------------------------------------------------------------


def stored(ops: str, result: str, dtype: str = "f32") -> str:
    """What the value of some ops over %a, %b : f32, %m, %n : i32 and %c, %d : i1 prints as."""
    mod = function(
        f"""
        %a = affine.load %A[0] : memref<4xf32>
        %b = affine.load %A[1] : memref<4xf32>
        %m = affine.load %M[0] : memref<4xi32>
        %n = affine.load %M[1] : memref<4xi32>
        %c = affine.load %P[0] : memref<4xi1>
        %d = affine.load %P[1] : memref<4xi1>
        {ops}
        affine.store %{result}, %O[0] : memref<4x{dtype}>""",
        f'%A: memref<4xf32> {{tir.name = "A"}}, %M: memref<4xi32> {{tir.name = "M"}}, '
        f'%P: memref<4xi1> {{tir.name = "P"}}, %O: memref<4x{dtype}> {{tir.name = "O"}}',
    )
    return lines(mod).splitlines()[-1].removeprefix("O[0] = ")


VALUES = [
    ("%r = arith.addf %a, %b : f32", "f32", "A[0] + A[1]"),
    ("%s = arith.addf %a, %b : f32\n%r = arith.mulf %s, %b : f32", "f32", "(A[0] + A[1]) * A[1]"),
    ("%s = arith.mulf %a, %b : f32\n%r = arith.addf %s, %b : f32", "f32", "A[0] * A[1] + A[1]"),
    ("%s = arith.addf %a, %b : f32\n%r = arith.subf %a, %s : f32", "f32", "A[0] - (A[0] + A[1])"),
    ("%s = arith.divf %a, %b : f32\n%r = arith.divf %a, %s : f32", "f32", "A[0] / (A[0] / A[1])"),
    ("%s = arith.addf %a, %b : f32\n%r = arith.negf %s : f32", "f32", "-(A[0] + A[1])"),
    ("%z = arith.constant 0.0 : f32\n%r = arith.maximumf %a, %z : f32", "f32", "T.max(A[0], T.float32(0.0))"),
    ("%r = arith.constant 0.1 : f32", "f32", "T.float32(0.1)"),
    ("%r = arith.constant 0x7F800000 : f32", "f32", 'T.float32("inf")'),
    ("%r = arith.constant 0xFF800000 : f32", "f32", 'T.float32("-inf")'),
    ("%r = arith.constant 0x7FC00000 : f32", "f32", 'T.float32("nan")'),
    ("%r = arith.constant 1.0e-5 : f64", "f64", "T.float64(1e-05)"),
    ("%r = arith.constant 0.5 : f16", "f16", "T.float16(0.5)"),
    ("%r = arith.constant -7 : i32", "i32", "-7"),
    ("%r = arith.constant 1 : i64", "i64", "T.int64(1)"),
    ("%r = arith.constant true", "i1", "T.bool(True)"),
    ("%r = math.exp %a : f32", "f32", "T.exp(A[0])"),
    ("%r = arith.truncf %a : f32 to f16", "f16", 'T.Cast("float16", A[0])'),
    ("%r = arith.sitofp %m : i32 to f32", "f32", 'T.Cast("float32", M[0])'),
    ("%r = arith.extui %c : i1 to i32", "i32", 'T.Cast("int32", P[0])'),
    ("%r = arith.select %c, %a, %b : f32", "f32", "T.Select(P[0], A[0], A[1])"),
    ("%r = arith.cmpf olt, %a, %b : f32", "i1", "A[0] < A[1]"),
    ("%r = arith.cmpf ult, %a, %b : f32", "i1", "not A[0] >= A[1]"),
    ("%r = arith.cmpi sge, %m, %n : i32", "i1", "M[0] >= M[1]"),
    ("%s = arith.andi %c, %d : i1\n%r = arith.ori %s, %d : i1", "i1", "P[0] and P[1] or P[1]"),
    ("%s = arith.ori %c, %d : i1\n%r = arith.andi %s, %d : i1", "i1", "(P[0] or P[1]) and P[1]"),
    ("%t = arith.constant true\n%r = arith.xori %c, %t : i1", "i1", "not P[0]"),
    ("%r = arith.andi %m, %n : i32", "i32", "T.bitwise_and(M[0], M[1])"),
    ("%r = arith.floordivsi %m, %n : i32", "i32", "M[0] // M[1]"),
    ("%r = arith.divsi %m, %n : i32", "i32", "T.truncdiv(M[0], M[1])"),
    (
        "%q = arith.floordivsi %m, %n : i32\n%p = arith.muli %q, %n : i32\n"
        '%r = arith.subi %m, %p {tir.op = "floormod"} : i32',
        "i32",
        "M[0] % M[1]",
    ),
    (
        "%r = scf.if %c -> f32 {\n%l = affine.load %A[2] : memref<4xf32>\nscf.yield %l : f32\n}"
        " else {\nscf.yield %b : f32\n}",
        "f32",
        "T.if_then_else(P[0], A[2], A[1])",
    ),
    ("%e = arith.index_cast %m : i32 to index\n%r = memref.load %A[%e] : memref<4xf32>", "f32", "A[M[0]]"),
]


@pytest.mark.parametrize(("ops", "dtype", "text"), VALUES)
def test_value(ops, dtype, text):
    assert stored(ops, "r", dtype) == text


def test_a_loop_variable_as_data_prints_as_itself():
    mod = function(
        """affine.for %i = 0 to 4 {
          %x = affine.apply affine_map<(d0) -> (d0 * 2 + 1)>(%i)
          %y = arith.index_cast %x : index to i32
          affine.store %y, %M[%i] : memref<4xi32>
          %z = arith.index_cast %i : index to i64
          affine.store %z, %L[%i] : memref<4xi64>
        } {tir.loop = "i"}""",
        '%M: memref<4xi32> {tir.name = "M"}, %L: memref<4xi64> {tir.name = "L"}',
    )
    assert lines(mod) == 'for i in range(4):\n    M[i] = i * 2 + 1\n    L[i] = T.Cast("int64", i)'


def test_a_named_value_is_bound_before_its_use():
    mod = function(
        """%a = affine.load %A[0] : memref<16xf32>
        %x = arith.addf %a, %a {tir.name = "x"} : f32
        %y = arith.mulf %x, %x : f32
        affine.store %y, %B[0] : memref<16xf32>""",
        f"{A16}, {B16}",
    )
    assert lines(mod) == "x: T.let[T.float32] = A[0] + A[0]\nB[0] = x * x"


def test_a_load_before_an_aliasing_store_is_bound_in_place():
    mod = function(
        """%a = affine.load %A[0] : memref<16xf32>
        %b = affine.load %A[1] : memref<16xf32>
        affine.store %b, %A[0] : memref<16xf32>
        affine.store %a, %A[1] : memref<16xf32>""",
        A16,
    )
    assert lines(mod) == "x: T.let[T.float32] = A[0]\nA[0] = A[1]\nA[1] = x"


def test_an_op_without_a_form_is_refused_with_its_name():
    mod = function(
        "%a = affine.load %A[0] : memref<16xf32>\n%b = math.cbrt %a : f32\naffine.store %b, %A[0] : memref<16xf32>", A16
    )
    with pytest.raises(TirError, match=r"math.cbrt has no TVMScript form"):
        script(mod)


# --- loops and guards -----------------------------------------------------------------------------------------------


def nest(*loops: str, inner: str = "affine.store %z, %A[0] : memref<16xf32>") -> ir.Module:
    """Loops from outer to inner, each `head | attributes`."""
    body = inner
    for loop in reversed(loops):
        head, _, facts = loop.partition("|")
        body = f"affine.for {head} {{\n{body}\n}} {{{facts}}}"
    return function(f"%z = arith.constant 0.0 : f32\n{body}", f'{A16}, %n: index {{tir.name = "n"}}')


def heads(mod: ir.Module) -> list[str]:
    return [line.strip() for line in lines(mod).splitlines() if line.strip().startswith("for ")]


def test_plain_nested_loops_are_a_grid():
    mod = nest('%i = 0 to 4 | tir.loop = "i"', '%j = 0 to 8 | tir.loop = "j"')
    assert heads(mod) == ["for i, j in T.grid(4, 8):"]


def test_a_grid_ends_where_an_extent_uses_its_variables():
    mod = nest('%i = 0 to 4 | tir.loop = "i"', '%j = 0 to affine_map<(d0) -> (d0 + 1)>(%i) | tir.loop = "j"')
    assert heads(mod) == ["for i in range(4):", "for j in range(i + 1):"]


def test_symbolic_extents_stay_in_the_grid():
    mod = nest('%i = 0 to %n | tir.loop = "i"', '%j = 0 to affine_map<()[s0] -> (s0 * 2)>()[%n] | tir.loop = "j"')
    assert heads(mod) == ["for i, j in T.grid(n, n * 2):"]


def test_loop_kinds_and_bounds():
    mod = nest(
        '%a = 2 to 66 | tir.loop = "a"',
        '%b = 0 to 4 | tir.loop = "b", tir.kind = "parallel"',
        '%c = 0 to 4 | tir.loop = "c", tir.kind = "vectorized"',
        '%d = 1 to 4 | tir.loop = "d", tir.kind = "unrolled"',
        '%e = 0 to 4 | tir.loop = "e", tir.kind = "threadIdx.x"',
        '%f = 0 to 4 | tir.loop = "f", tir.annotations = {a = 1 : i64, b = "x", c = true}',
        '%g = 0 to min affine_map<(d0) -> (d0 * 2, 3)>(%a) | tir.loop = "g"',
    )
    assert heads(mod) == [
        "for a in range(2, 66):",
        "for b in T.parallel(4):",
        "for c in T.vectorized(4):",
        "for d in T.unroll(1, 4):",
        'for e in T.thread_binding(4, thread="threadIdx.x"):',
        'for f in T.serial(4, annotations={"a": 1, "b": "x", "c": T.bool(True)}):',
        "for g in range(T.min(a * 2, 3)):",
    ]


def test_names_are_unique_where_they_are_visible():
    mod = nest('%i = 0 to 4 | tir.loop = "i"', '%j = 0 to 8 | tir.loop = "i"', '%k = 0 to 8 | tir.loop = "for"')
    assert heads(mod) == ["for i, i_1, for_ in T.grid(4, 8, 8):"]


def test_an_empty_body_evaluates_nothing():
    assert lines(nest('%i = 0 to 4 | tir.loop = "i"', inner="")) == "for i in range(4):\n    T.evaluate(0)"


def test_if_statements():
    mod = nest(
        '%i = 0 to 4 | tir.loop = "i"',
        inner="""affine.if affine_set<(d0)[s0] : (-d0 + s0 - 1 >= 0, d0 - 2 >= 0)>(%i)[%n] {
          affine.store %z, %A[%i] : memref<16xf32>
        } else {
          affine.store %z, %A[0] : memref<16xf32>
        }""",
    )
    assert lines(mod).splitlines()[1:] == [
        "    if i < n and i >= 2:",
        "        A[i] = T.float32(0.0)",
        "    else:",
        "        A[0] = T.float32(0.0)",
    ]


# --- blocks ---------------------------------------------------------------------------------------------------------


def test_iters_where_domains_and_attributes():
    mod = function(
        """affine.for %i = 0 to 4 { affine.for %j = 0 to 4 { affine.for %k = 0 to 3 {
          affine.if affine_set<(d0, d1) : (-d0 * 4 - d1 + 13 >= 0)>(%i, %j) {
            affine.parallel (%u, %v, %w, %x) = (%i, %j, %i * 4 + %j, %k + 2)
                                            to (%i + 1, %j + 1, %i * 4 + %j + 1, %k + 3) {
              %a = affine.load %A[%w] : memref<16xf32>
              affine.store %a, %B[%w] : memref<16xf32>
            } {tir.block = "b", tir.iters = ["S", "S", "S", "R"], tir.names = ["u", "v", "w", "x"],
               tir.annotations = {p = 1 : i64},
               tir.min = affine_map<() -> (0, 0, 0, 2)>, tir.extent = affine_map<() -> (4, 4, 14, 3)>, tir.syms = []}
          } {tir.where}
        } {tir.loop = "k"} } {tir.loop = "j"} } {tir.loop = "i"}""",
        f"{A16}, {B16}",
    )
    assert lines(mod) == textwrap.dedent(
        """\
        # with T.block("root"):
        for i, j, k in T.grid(4, 4, 3):
            with T.block("b"):
                u, v = T.axis.remap("SS", [i, j])
                w = T.axis.spatial(14, i * 4 + j)
                x = T.axis.reduce((2, 5), k + 2)
                T.where(i * 4 + j < 14)
                T.reads(A[w])
                T.writes(B[w])
                T.block_attr({"p": 1})
                B[w] = A[w]"""
    )


OPAQUE = """affine.parallel (%u) = (0) to (1) {
  %Y = memref.alloc() {tir.name = "A", alignment = 64 : i64} : memref<16xf32>
  affine.for %i = 0 to 16 {
    %a = affine.load %A[%i] : memref<16xf32>
    affine.store %a, %Y[%i] : memref<16xf32>
    %b = affine.load %Y[%i] : memref<16xf32>
    affine.store %b, %B[%i] : memref<16xf32>
  } {tir.loop = "i"}
} {tir.block = "root", tir.iters = [], tir.names = [], tir.min = affine_map<() -> ()>,
   tir.extent = affine_map<() -> ()>, tir.syms = []}"""


def test_a_block_without_iters_is_the_root_and_owns_its_buffers():
    assert lines(function(OPAQUE, f"{A16}, {B16}")) == textwrap.dedent(
        """\
        with T.block("root"):
            T.reads(A[0:16])
            T.writes(B[0:16])
            A_1 = T.alloc_buffer((16,))
            for i in range(16):
                A_1[i] = A[i]
                B[i] = A_1[i]"""
    )


def test_without_blocks_there_is_no_root():
    assert not lines(nest('%i = 0 to 4 | tir.loop = "i"')).startswith("#")


# --- buffers and signatures -----------------------------------------------------------------------------------------


def test_parameters():
    mod = function(
        "",
        '%A: memref<16x4xf16, "shared"> {tir.name = "A"}, %B: memref<f32> {tir.name = "B"}, '
        '%n: index {tir.name = "n"}, %x: f32 {tir.name = "x"}, %y: i64 {tir.name = "y"}',
        'tir.attrs = {global_symbol = "other", tir.noalias = true}',
        visibility="private",
    )
    assert signature(mod) == (
        'def f(A: T.Buffer((16, 4), "float16", scope="shared"), B: T.Buffer((), "float32"), n: T.int32, '
        "x: T.float32, y: T.int64):"
    )
    assert "@T.prim_func(private=True)" in script(mod)
    assert lines(mod).splitlines()[0] == 'T.func_attr({"global_symbol": "other", "tir.noalias": T.bool(True)})'


def test_symbolic_and_strided_parameters_are_matched():
    mod = function(
        """%c0 = arith.constant 0 : index
        %n = memref.dim {tir.name = "n"} %A, %c0 : memref<?x16xf32>
        %Y = memref.alloc(%n) {tir.name = "Y", alignment = 64 : i64} : memref<?x16xf16>""",
        '%A: memref<?x16xf32> {tir.name = "A", tir.shape = affine_map<()[s0] -> (s0, 16)>, tir.syms = ["n"]}, '
        '%B: memref<16x16xf32, strided<[?, 1], offset: ?>, "global.B_reg"> '
        '{tir.name = "B", tir.strides = ["sb", ""], tir.offset_factor = 16 : i64}',
    )
    assert signature(mod) == "def f(var_A: T.handle, var_B: T.handle):"
    assert lines(mod).splitlines() == [
        "n = T.int32()",
        "A = T.match_buffer(var_A, (n, 16))",
        'B = T.match_buffer(var_B, (16, 16), strides=("sb", 1), scope="global.B_reg", offset_factor=16)',
        '# with T.block("root"):',
        'Y = T.alloc_buffer((n, 16), "float16")',
        "T.evaluate(0)",
    ]


def test_a_buffer_without_dimensions():
    mod = function(
        "%a = affine.load %A[] : memref<f32>\naffine.store %a, %A[] : memref<f32>", '%A: memref<f32> {tir.name = "A"}'
    )
    assert lines(mod) == "A[()] = A[()]"


def test_spellings_and_sugar():
    mod = function(OPAQUE, f"{A16}, {B16}")
    text = script(mod, spelling="sblock")
    assert 'with T.sblock("root"):' in text and "T.sblock_alloc_buffer((16,))" in text
    with pytest.raises(TirError, match='the spellings are "block" and "sblock"'):
        script(mod, spelling="new")
    plain = lines(nest('%i = 0 to 4 | tir.loop = "i"', '%j = 0 to 8 | tir.loop = "j"'), syntax_sugar=False)
    assert plain.splitlines()[:2] == ["for i in range(4):", "    for j in range(8):"]


def test_a_module_without_functions():
    assert script(module("func.func private @k(!llvm.ptr)")).endswith("class Module:\n    pass")


def test_a_marked_loop_is_underlined():
    mod = nest('%i = 0 to 4 | tir.loop = "i", tir.id = 7 : i64', '%j = 0 to 8 | tir.loop = "j", tir.id = 8 : i64')
    assert lines(mod, mark={8: "is vectorized"}).splitlines()[1:3] == [
        "    for j in range(8):",
        "    ^^^^^^^^^^^^^^^^^^  # is vectorized",
    ]


# --- equality -------------------------------------------------------------------------------------------------------


def test_equality_ignores_ids_and_shared_values():
    one = function(
        """%a = affine.load %A[0] : memref<16xf32>
        %b = arith.addf %a, %a : f32
        affine.store %b, %A[1] : memref<16xf32>""",
        A16,
    )
    two = function(
        """%a = affine.load %A[0] : memref<16xf32>
        %c = affine.load %A[0] : memref<16xf32>
        %b = arith.addf %a, %c : f32
        affine.store %b, %A[1] : memref<16xf32>""",
        A16,
        "tir.id = 4 : i64",
    )
    assert equal(one, two) and difference(one, two) is None


def test_names_are_compared_by_default():
    one, two = (nest(f'%i = 0 to 4 | tir.loop = "{n}"') for n in "ij")
    assert not equal(one, two) and equal(one, two, names=False)
    found = difference(one, two)
    assert found is not None and "for i in range(4):" in found and "for j in range(4):" in found

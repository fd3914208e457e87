"""Modules of TVMScript, and where programs come from."""

from __future__ import annotations

import pytest
from harness.scripts import Matmul, blocks, function, loops

from tir_mlir.dialect.ir import enter_context
from tir_mlir.script import IRModule, parse
from tir_mlir.script import ir as I
from tir_mlir.script import tir as T

# ---- modules


def test_functions_of_a_module():
    mod = IRModule({"f": Matmul["main"], "g": Matmul["main"]})
    assert list(mod) == ["f", "g"] and len(mod) == 2 and "f" in mod
    assert mod["g"].attrs["global_symbol"] == "g"
    with enter_context():
        ids = [x.id for x in (*loops(mod), *blocks(mod))]
    assert len(set(ids)) == len(ids)
    with pytest.raises(KeyError, match="has no function 'h'; it has f, g"):
        mod["h"]
    assert mod["f"].equal(mod["g"])


def test_a_copy_is_independent():
    copy = Matmul.clone()
    assert copy.equal(Matmul) and copy.text() == Matmul.text()
    with enter_context():
        copy.mlir.body.operations[0].operation.erase()
    assert len(copy) == 0 and len(Matmul) == 1


def test_words_outside_a_program():
    from tir_mlir.dialect.diagnostics import ScriptError

    with pytest.raises(ScriptError, match=r"T.grid is a TVMScript construct"):
        T.grid(3)
    assert repr(T.Buffer((4, 4), "int8")) == 'T.Buffer((4, 4), "int8")'
    assert T.grid.__doc__ and T.axis.spatial.__doc__ and T.float32.__doc__ and T.exp.__doc__


def test_a_member_without_its_module():
    from tir_mlir.dialect.diagnostics import ScriptError

    class Loose:
        @T.prim_func
        def main(A: T.Buffer((4,))):
            pass

    with pytest.raises(ScriptError, match=r"without @I.ir_module"):
        Loose.main.show()
    with pytest.raises(ScriptError, match="is not a prim_func"):

        @I.ir_module
        class Odd:
            def main(self):
                pass


def test_a_function_decorated_twice():
    from tir_mlir.dialect.diagnostics import ScriptError

    with pytest.raises(ScriptError, match=r"^main is decorated with @T.prim_func more than once"):

        @I.ir_module
        class Module:
            @T.prim_func
            @T.prim_func
            def main(A: T.Buffer((4,))):
                pass

    with pytest.raises(ScriptError, match=r"^alone is decorated with @T.prim_func more than once"):

        @T.prim_func(private=True)
        @T.prim_func
        def alone(A: T.Buffer((4,))):
            pass


# ---- where programs come from


def test_a_cell_of_a_notebook():
    import linecache

    text = (
        "from tir_mlir.script import tir as T\n\nSIZE = 4\n@T.prim_func\n"
        "def f(A: T.Buffer((SIZE,), 'float32')):\n    for i in range(SIZE + 1):\n        A[i] = 1.0\n"
    )
    linecache.cache["<cell 1>"] = (len(text), None, text.splitlines(keepends=True), "<cell 1>")
    with pytest.raises(Exception, match=r"A is written at index 4 .*\n  <cell 1>:7\n    A.i. = 1.0\n    \^\^\^\^$"):
        exec(compile(text, "<cell 1>", "exec"), {})


def test_no_source_text():
    with pytest.raises(Exception, match="the source text of f cannot be found"):
        exec("from tir_mlir.script import tir as T\n@T.prim_func\ndef f(A: T.Buffer((4,))):\n    pass\n", {})


def test_a_plain_function_and_a_plain_class():
    def f(A: T.Buffer((4,), "float32")):
        for i in range(4):
            A[i] = 1.0

    class M:
        def g(A: T.Buffer((4,), "float32")):
            for i in range(4):
                A[i] = 1.0

    assert list(parse(f)) == ["f"] and list(parse(M)) == ["g"]


def test_text_with_imports_and_constants():
    mod = parse(
        "from __future__ import annotations\nimport tvm\nfrom tvm.script import ir as II, tirx as TT\nn = 4\n"
        "@II.ir_module\nclass M:\n    @TT.prim_func(private=True)\n    def f(A: TT.Buffer((n,))):\n"
        "        for i in TT.grid(TT.int64(4)):\n            A[i] = 1.0\n"
    )
    assert mod["f"].attrs == {}


def test_the_check_can_be_left_out():
    @T.prim_func(check_well_formed=False)
    def f(A: T.Buffer((4,), "float32")):
        for i in range(5):
            A[i] = 1.0

    assert "0 to 5" in f.module.text()


def test_equal_loop_names():
    function("for i in range(4):\n    for i in range(8):\n        B[i, 0] = 1.0\nfor i in range(4):\n    B[i, 1] = 1.0")


def test_numbers_out_of_range():
    from tir_mlir.dialect.diagnostics import ScriptError

    for text in ("for i in range(2 ** 70):\n    pass", "C = T.alloc_buffer((2 ** 70,))", "B[0, 2 ** 70] = 1.0"):
        with pytest.raises(ScriptError, match="<script>"):
            function(text)


def test_a_remark_in_another_script_does_not_move_the_mark():
    from tir_mlir.dialect.diagnostics import ScriptError

    with pytest.raises(ScriptError, match=r"    A.1. = foo  # 注\n           \^\^\^$"):
        parse("@T.prim_func\ndef f(A: T.Buffer((4,))):\n    '循环'; A[1] = foo  # 注".replace("'循环'; ", ""))


def test_numbers_of_numpy():
    import numpy as np

    rows, scale = np.array([4, 8]).prod(), np.float32(0.5)

    @T.prim_func
    def f(A: T.Buffer((rows,), "float32")):
        for i in range(rows):
            A[i] = A[i] * scale

    assert "memref<32xf32>" in f.module.text() and "5.000000e-01 : f32" in f.module.text()


def test_where_the_text_of_a_function_ends():
    """Lines in a string, or behind a backslash, may be less indented; comments may be anywhere."""

    # fmt: off
    @T.prim_func
    def odd(
        A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")
    ):
        """In a program
of four numbers:
def not_here(): pass
        """
    # a comment
        for i in range(4):
            with T.block("B"):
                vi = T.axis.spatial(4, i)
                B[vi] = A[vi] + \
1.0
    other = "not of the program"
    # fmt: on
    assert other and odd.script().count('T.block("B")') == 1
    line = test_where_the_text_of_a_function_ends.__code__.co_firstlineno
    assert f'test_sources.py":{line + 16}:' in odd.module.mlir.operation.get_asm(enable_debug_info=True)


def test_nothing_is_collected_while_a_program_is_parsed():
    import gc

    seen = []

    def look():
        seen.append(gc.isenabled())
        return 1.0

    @T.prim_func
    def f(A: T.Buffer((4,), "float32")):
        A[0] = look()

    assert seen and not any(seen) and gc.isenabled() and f is not None

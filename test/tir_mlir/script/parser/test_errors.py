"""Invalid programs: the message and its line (the one marked `# <<`)."""

import re
import textwrap

import pytest

from tir_mlir.dialect.diagnostics import ScriptError
from tir_mlir.script import parse

BLOCK = """
@T.prim_func
def main({params}):
    for i, j in T.grid(16, 8):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
{body}
"""
PARAMS = 'A: T.Buffer((16, 8), "float32"), B: T.Buffer((16, 8), "float32"), I: T.Buffer((16,), "int32")'


def refused(text: str) -> ScriptError:
    with pytest.raises(ScriptError) as caught:
        parse(text, filename="user.py")
    error = caught.value
    assert error.filename == "user.py"
    marked = [n for n, line in enumerate(text.splitlines(), 1) if "# <<" in line]
    assert error.lineno == marked[0], str(error)
    shown = text.splitlines()[marked[0] - 1].strip()
    assert f"user.py:{marked[0]}\n    {shown}\n" in str(error) and "^" in str(error).splitlines()[-1]
    return error


def in_block(body: str, params: str = PARAMS) -> ScriptError:
    return refused(BLOCK.format(params=params, body=textwrap.indent(textwrap.dedent(body), " " * 12)))


def in_function(body: str, params: str = PARAMS) -> ScriptError:
    return refused(f"@T.prim_func\ndef main({params}):\n" + textwrap.indent(textwrap.dedent(body).strip("\n"), "    "))


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("B[vi] = A[vi, vj]  # <<", "buffer B has 2 axes but 1 indices are given"),
        ("B[vi, vj] = A[vi, vj, 0]  # <<", "buffer A has 2 axes but 3 indices"),
        ("B[vi, vj] = D[vi, vj]  # <<", "unknown name D"),
        ("B[vi, vj] = x  # <<\nx = 1", "x is used before its definition in line 8"),
        ("B[vi, vj] = A  # <<", r"a value is needed here, not buffer A; index it: A\[...\]"),
        ("B[vi, vj] = A + 1  # <<", "a value is needed here, not buffer A"),
        ("I[vi] = A[vi, vj]  # <<", "buffer I holds int32 but the value has type float32; convert it: T.Cast"),
        ("I[vi] = 0.5  # <<", "the constant 0.5 does not fit type int32"),
        ("B[vi, vj] = A[i, vj]  # <<", "loop variable i is used inside a block that has iters"),
        ("B[vi, vj] = A[vi, A[vi, vj]]  # <<", "an index must be an integer; this one has type float32"),
        ("B[vi, vj] = A[0:2, vj]  # <<", "1 element is stored to buffer B, but the value has the lanes of float32x2"),
        ("B[vi, vj] = T.exq(A[vi, vj])  # <<", "T has no exq; did you mean T.exp"),
        ("B[vi, vj] = T.exp()  # <<", "missing a required argument: 'x'"),
        ("B[vi, vj] = T.exp(vi)  # <<", "T.exp takes floats, not int32"),
        ("B[vi, vj] = T.Cast('float3', A[vi, vj])  # <<", "dtype float3 is not supported"),
        ("B[vi, vj] = T.uint8(300)  # <<", "the constant 300 does not fit type uint8"),
        ("B[vi, vj] = A[T.infinity(vi), vj]  # <<", "dtype a value of type int32 is not supported"),
        ("B[vi + (1 << 99999), vj] = A[vi, vj]  # <<", "an integer of 100,000 bits does not fit an index"),
        ("B[vi, vj] = T.Buffer[vi]  # <<", "not the type of a buffer"),
        ("B[vi, vj] = T.infinity('int32')  # <<", "int32 has no infinity; the floats have: float16"),
        ("I[vi] = vi / 2  # <<", "/ divides floats; for integers write //"),
        ("I[vi] = vi // 0  # <<", "a division by zero"),
        ("B[vi, vj] = T.grid(4)  # <<", "T.grid is a statement and has no value"),
        ("while True:  # <<\n    pass", "the loop runs forever"),
        ("return A  # <<", "a prim_func cannot return a value"),
        ("try:  # <<\n    pass\nfinally:\n    pass", "try is not supported"),
        ("A[vi, vj]  # <<", "an expression statement has no effect"),
        ("vi + 1  # <<", "an expression statement has no effect"),
        ("B[vi, vj + 1] = A[vi, vj]  # <<", "B is written at index 8 in dimension 1"),
        ("B[vi, vj] = A[vi - 1, vj]  # <<", "A is read at index -1 in dimension 0"),
        ("T.evaluate(T.call_extern('int32', 'f', A))  # <<", "a C function takes a pointer"),
        ("T.call_extern('void', 'tvm_mma_sync')  # <<", r"is a matrix function, .*; fix: T.tvm_mma_sync\("),
        ("T.evaluate(T.call_extern('int32', A.access_ptr('q')))  # <<", 'is for "r", "w" or "rw"'),
        ("B[vi, vj] = A.foo  # <<", "a buffer has no foo"),
        ("B[vi, vj] = [A[vi, k] for k in range(3)]  # <<", "ListComp runs at parse time; it cannot use"),
        ("B[vi, vj] = len(A)  # <<", "len is compiled code and cannot take buffer A; use a function of T"),
        ("B[vi, vj] = int('x')  # <<", r"int\(...\) raised ValueError"),
        ("for k in 3:  # <<\n    pass", "a loop iterates over"),
        ("for k in range(0, 4, 2):  # <<\n    pass", "range takes an extent, or a start and a stop"),
        ("for k in range(5, 2):  # <<\n    pass", "loop k has a negative extent: -3"),
        ("for k in range(A[vi, 0]):  # <<\n    pass", "a loop bound must be an integer expression"),
        ("for k, l in T.grid(4):  # <<\n    pass", "T.grid has 1 extents for 2 loop variables"),
        ("for k in T.thread_binding(4, thread='warp'):  # <<\n    pass", "'warp' is not a thread axis"),
        ("x = A[vi, vj]\nx = A[vi, 0]  # <<", "x is already bound"),
        ("x += 1  # <<", "x \\+= y needs an element of a buffer"),
        ("B[vi, vj] = A[vi, vj]\nvk = T.axis.spatial(4, 0)  # <<", "the axes of a block come first"),
        ("T.reads(A[vi, vj], 3)  # <<\nB[vi, vj] = A[vi, vj]", "a region is a part of a buffer"),
        ("T.reads()  # <<\nB[vi, vj] = A[vi, vj]", "T.reads leaves out A"),
        (
            "T.writes(B[vi, 0:3])  # <<\nB[vi, vj] = A[vi, vj]",
            r"T.writes of B is smaller than the region that the block accesses: it leaves out B\[0, 3\]",
        ),
        ("T.where(A)  # <<\nB[vi, vj] = A[vi, vj]", "a condition is needed here, not buffer A"),
        ("with T.init():\n    B[vi, vj] = 0.0\nwith T.init():  # <<\n    pass", "this block already has a T.init"),
        ("T.alloc_buffer((4,))  # <<", "T.alloc_buffer returns a buffer: name it"),
        ("T.block_attr(3)  # <<", "T.block_attr takes a dictionary, not 3"),
        ("T.reads(x=A)  # <<", "T.reads takes regions only"),
        ("A.shape = 3  # <<", "cannot assign to A.shape"),
        ("I[vi] = T.int8(300)  # <<", "the constant 300 does not fit type int8"),
        ("B[vi, vj] = T.float32  # <<", "a value is needed here, not the type T.float32"),
        ("for k in T.serial(4, annotations=3):  # <<\n    pass", "the annotations of a loop are a dictionary"),
        ('for k in T.serial(4, annotations={"a": await k}):  # <<\n    pass', "SyntaxError: 'await' outside function"),
        ("import numpy  # <<", "import outside the prim_func"),
        ("x: T.int32  # <<", "x is declared without a value"),
        ("x = {B: 1}  # <<", "buffer B cannot be a dictionary key"),
        ("B[vi, vj] @= T.float32(1)  # <<", "the operator MatMult is not supported"),
        ("B[vi, (vj, vj)] = T.float32(1)  # <<", "an index is needed here, not a tuple of a value of type int32, a"),
        ("B[vi, vj] = T.float32(~1.5)  # <<", "bad operand type"),
    ],
)
def test_in_a_block(body: str, message: str):
    error = in_block(body)
    assert re.search(message, error.message), error.message


@pytest.mark.parametrize(
    ("body", "message"),
    [
        # the course's wrong program: 127 iterations for an axis of 128
        (
            """
            for i in range(15):
                with T.block("B"):
                    vi = T.axis.spatial(16, i)  # <<
                    I[vi] = 1
            """,
            "do not cover its domain.*no iteration runs vi = 15",
        ),
        (
            """
            for i in range(17):
                with T.block("B"):
                    vi = T.axis.spatial(16, i)  # <<
                    I[vi] = 1
            """,
            "iter vi has the domain .* but it is bound to 16 at i = 16",
        ),
        (
            """
            for i, j in T.grid(16, 8):
                with T.block("B"):
                    vi, vj = T.axis.remap("SSR", [i, j])  # <<
                    B[vi, vj] = 1.0
            """,
            "T.axis.remap has 3 kinds, 2 loops and 2 names",
        ),
        (
            """
            for i, j in T.grid(16, 8):
                with T.block("B"):
                    vi, vj = T.axis.remap("SR", [i, j])  # <<
                    B[vi, vj] = 1.0
            """,
            'iter vj of block "B" is declared reduce but indexes the store to B; declare it spatial',
        ),
        (
            """
            for i, j in T.grid(15, 8):
                with T.block("B"):
                    vi = T.axis.reduce(15, i)  # <<
                    vj = T.axis.spatial(8, j)
                    B[vi + 1, vj] = B[vi, vj]
            """,
            'iter vi of block "B" is declared reduce but indexes the store to B; declare it ordered .T.axis.opaque.',
        ),
        (
            """
            for i, j in T.grid(16, 8):
                with T.block("B"):
                    vi, vj = T.axis.remap("SS", [i, j])  # <<
                    I[vi] = I[vi] + 1
            """,
            'iter vj of block "B" is declared spatial.* does not matter: declare vj reduce .T.axis.reduce.',
        ),
        (
            """
            for i in range(16):
                with T.block("B"):
                    vi = T.axis.spatial(16, i)
                    vi = T.axis.spatial(16, i)  # <<
                    I[vi] = 1
            """,
            "iter vi is declared twice",
        ),
        (
            """
            for i in range(16):
                with T.block("B"):
                    vi = T.axis.spatial(16, A[i, 0])  # <<
                    I[vi] = 1
            """,
            "the value bound to vi must be an integer",
        ),
        (
            """
            for i in range(16):
                with T.block("B"):
                    vi, = T.axis.remap("S", [i + 1])  # <<
                    I[vi] = 1
            """,
            "T.axis.remap binds loop variables, not i \\+ 1",
        ),
        (
            """
            for i in range(16):
                with T.block("B"):
                    I[vi] = 1  # <<
            """,
            "unknown name vi",
        ),
        (
            """
            for i in range(16):
                with T.block("B"):
                    vi = T.axis.spatial(16, i)
                    I[vi] = 1
            I[vi] = 2  # <<
            """,
            "vi is out of scope: the iter of line 5 ended",
        ),
        ("vi = T.axis.spatial(16, 0)  # <<", "axes must be declared directly in a block"),
        ("T.reads(A[0, 0])  # <<", "T.reads must be directly in a block"),
        ("with T.init():  # <<\n    I[0] = 1", "T.init must be directly in the body of a block"),
        ("with open('f') as f:  # <<\n    pass", "with is for T.block"),
        ("T.func_attr({'x': A})  # <<", "a function attribute must be known when the program is parsed"),
        ("C = T.alloc_buffer((4,), 'float31')  # <<", 'dtype "float31" is not supported'),
        ("C = T.alloc_buffer((4,), {})  # <<", "dtype {} is not supported"),
        ("B = T.alloc_buffer((4,))  # <<", "B is already a buffer .line 2.; choose another name"),
        ("C = T.alloc_buffer((-4,))  # <<", "an extent cannot be negative"),
        ("n = T.int32()\nC = T.match_buffer(c, (n * n,))  # <<", "a value is needed here, not the variable n"),
        ("C = T.match_buffer(c, (A.access_ptr('r'),))  # <<", "the shape variables of C cannot be solved for"),
        ("C = T.match_buffer(c, (T.Cast('int32', A[0, 0]) + 1,))  # <<", "buffer A has 0 axes but 2 indices"),
        ("C = T.alloc_buffer()  # <<", "missing a required argument: 'shape'"),
        ("C = T.match_buffer(A[0:4, 0:4], (4, 5))  # <<", "C does not match its region of A, which is .4, 4."),
        (
            "C = T.match_buffer(A[0:4, 0:4], (4, 4), 'int8')  # <<",
            'C is declared with dtype "int8" but A has "float32"',
        ),
    ],
)
def test_in_a_function(body: str, message: str):
    error = in_function(body, PARAMS + (", c: T.handle" if "match_buffer(c" in body else ""))
    assert re.search(message, error.message), error.message


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ("A", "parameter A needs a type"),
        ("A: 3", "parameter A is neither T.Buffer"),
        ("A: T.handle", "handle A has no shape"),
        ("A: T.Buffer((4,), 'float8')", 'dtype "float8" is not supported'),
        ("A: T.Buffer((4, -1))", "negative extent"),
        ("A: T.Buffer((4, 1.5))", "an extent is an integer or a variable"),
        ("A: T.Buffer((4,), strides=(1, 2))", "buffer A has 1 axes but 2 strides"),
        ("A: T.Buffer((4,), color=1)", "a buffer has no color"),
        ("A: T.Buffer((n * 2,))", "unknown name n"),
        ("A: T.int32 = 3", "a parameter of a prim_func has no default"),
        ("A: T.int32, A: T.float32", "A is already a parameter"),
        ("*A", "takes plain positional parameters"),
        ("A: T.Buffer((16 ** 16,))", "18446744073709551616 does not fit an index"),
        ("A: T.Buffer((T.Buffer,))", "an extent is an integer or a variable, not T.Buffer"),
        ("A: T.Buffer((4,), align=1 << 70)", "does not fit in 64 bits"),
        ("A: T.Buffer((4,), align='x')", "offset_factor and align of A are numbers, not 'x'"),
        ("A: T.Buffer((4,), scope=3)", "the scope of A is a string"),
        ("A: T.Buffer((T.exp(T.exp(T.float32(2))),))", "an extent is an integer or a variable"),
        ("A: T.Buffer((4,), align=T.sin(T.sin(T.float32(2))))", "align must be known when the program is parsed"),
        ("A: '3 +'", "'3 +' is not a type: it is not valid Python"),
    ],
)
def test_in_a_signature(params: str, message: str):
    error = refused(f"@T.prim_func\ndef main({params}):  # <<\n    pass")
    assert message in error.message


def test_not_python():
    assert "not Python" in refused("@T.prim_func\ndef main(:  # <<\n    pass").message


def test_two_functions_of_one_name():
    text = "@I.ir_module\nclass M:\n"
    text += "    @T.prim_func\n    def f(A: T.Buffer((4,))):\n        pass\n"
    text += "    @T.prim_func\n    def f(A: T.Buffer((4,))):  # <<\n        pass\n"
    assert "already has a function f" in refused(text).message


def test_an_extern_function_keeps_its_signature():
    error = in_function(
        """
        T.evaluate(T.call_extern("int32", "f", A.access_ptr("r")))
        T.evaluate(T.call_extern("int32", "f", A.access_ptr("r"), 1))  # <<
        """
    )
    assert "but is (!llvm.ptr) -> i32 in this module" in error.message


def test_text_without_a_program():
    with pytest.raises(ScriptError, match=r"no @T.prim_func"):
        parse("x = 1")
    with pytest.raises(ScriptError, match="ZeroDivisionError"):
        parse("x = 1 // 0")
    with pytest.raises(ScriptError, match="SyntaxError: can't use starred expression here"):
        parse("x = *y")
    with pytest.raises(ScriptError, match="takes TVMScript text or a function, not int"):
        parse(3)


def test_nested_too_deeply():
    """Python's own parser gives up with an error without words, ours by recursion: both are errors at a line."""
    with pytest.raises(ScriptError, match="nested too deeply") as caught:
        parse("@T.prim_func\ndef main(A: T.Buffer((4,))):\n    A[0] = " + "(" * 190 + "-" * 9000 + "0" + ")" * 190)
    assert caught.value.lineno
    assert "nested too deeply" in in_function(f"A[0, 0] = {' + '.join(['A[0, 0]'] * 900)}  # <<").message


def test_half_a_character_is_no_python():
    with pytest.raises(ScriptError, match=r"not Python: .*surrogates not allowed"):
        parse("\ud800")


def test_globals_are_a_dictionary():
    with pytest.raises(ScriptError, match="globals as a dictionary of names, not list"):
        parse("x = 1", [3])  # type: ignore[arg-type]


def test_the_scope_of_an_allocated_buffer_is_a_string():
    text = '@T.prim_func\ndef main():\n    B = T.alloc_buffer((4,), "float32", scope=1.5)\n'
    with pytest.raises(ScriptError, match=r'the scope of B is a string such as "global", not 1.5'):
        parse(text)


@pytest.mark.parametrize(
    "text",
    [
        'def main(B: T.Buffer((4294967296, 4294967296), "int8")):\n    T.evaluate(0)\n',
        'def main():\n    B = T.alloc_buffer((4294967296, 4294967296), "int8")\n    T.evaluate(0)\n',
    ],
)
def test_a_buffer_that_cannot_be_counted(text):
    with pytest.raises(ScriptError, match="buffer B has more elements than 64 bits can count"):
        parse(f"@T.prim_func\n{text}")

"""Programs as TVM prints them and as people write them: both spellings parse to one module, which prints and parses."""

import re
import textwrap
from pathlib import Path

import pytest

from tir_mlir.dialect.diagnostics import ScriptError
from tir_mlir.script import parse
from tir_mlir.script.structural_equal import difference

_TEXT = (Path(__file__).parent / "corpus.txt").read_text()
_NEWER = {"T.block(": "T.sblock(", "T.block_attr(": "T.sblock_attr(", "T.alloc_buffer(": "T.sblock_alloc_buffer("}


def corpus() -> dict[str, tuple[str, str]]:
    """Name -> parameters and body."""
    pieces = re.split(r"^=+ (.*)\n", _TEXT, flags=re.M)[1:]
    return {n: tuple(p.split("\n", 1)) for n, p in zip(pieces[::2], pieces[1::2], strict=True)}  # type: ignore[misc]


def program(params: str, body: str) -> str:
    body = textwrap.indent(textwrap.dedent(body).strip("\n"), "    ")
    return f"from tvm.script import tir as T\n\n@T.prim_func\ndef main({params}):\n{body}\n"


def newer(text: str) -> str:
    """The same text as today's TVM spells it."""
    for old, new in _NEWER.items():
        text = text.replace(old, new)
    text = text.replace("from tvm.script import tir as T", "from tvm.script import tirx as T")
    return text.replace("@T.prim_func\n", "@T.prim_func(s_tir=True)\n")


CORPUS = corpus()


def test_the_corpus_is_read_as_a_whole():
    assert len(CORPUS) == len(re.findall(r"^=+ ", _TEXT, re.M)) >= 80


@pytest.mark.few(34)
@pytest.mark.filterwarnings("ignore:unknown annotation")  # the programs are as others wrote them
@pytest.mark.slow
@pytest.mark.parametrize("name", CORPUS)
def test_a_program_parses_prints_and_parses(name):
    text = program(*CORPUS[name])
    module = parse(text)
    assert difference(module.mlir, parse(newer(text)).mlir) is None
    for spelling in ("block", "sblock"):
        for sugar in (True, False):
            printed = module.script(spelling=spelling, syntax_sugar=sugar)
            again = parse(printed)
            assert difference(module.mlir, again.mlir) is None
            assert again.script(spelling=spelling, syntax_sugar=sugar) == printed


AB = 'A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")'
NEST = """
for i in range(16):
    with T.block("B"):
        vi = T.axis.spatial(16, i)
        B[vi] = {}
"""
REFUSED = {
    "while": (AB, "while True:\n    pass", r"condition of this while is constant: the loop runs forever"),
    "packed": (AB, NEST.format('T.call_packed("f", A[vi])'), r"T\.call_packed is not supported.*T\.call_extern"),
    "decl_buffer": (AB, "C = T.decl_buffer((16,))", r"C is declared in no memory: .*T\.alloc_buffer"),
    "allocate": (AB, 'C = T.allocate((16,), "float32")', r"T\.allocate is not supported.*after lowering"),
    "undef": (AB, NEST.format('T.undef("float32")'), r"T\.undef is not supported"),
    "no word": (AB, NEST.format("T.expp(A[vi])"), r"T has no expp; did you mean T\.exp\?"),
    "narrow floats": ('A: T.Buffer((16,), "float8")', "pass", r'dtype "float8" is not supported'),
    "step": (AB, "for i in range(0, 16, 2):\n    B[i] = A[i]", r"for a step, scale the index"),
    "other widths": (AB, NEST.format('T.reinterpret("int64", A[vi])'), r"float32 and int64 differ in width"),
    "no conditions": (AB, NEST.format("T.if_then_else(T.all(), A[vi], 0.0)"), r"T\.all needs at least one condition"),
    "address of a region": (AB, 'T.call_extern("int32", "f", T.address_of(A[0:4]))', r"T\.address_of takes one elem"),
    "let of what": (AB, NEST.format("T.Let(A[vi], where=3)"), r"T\.Let names values"),
    "domain of a loop": (
        'A: T.Buffer((16, 16), "float32")',
        """
        for i in range(16):
            for j in range(i + 1):
                with T.block("A"):
                    vi = T.axis.spatial(16, i)
                    vj = T.axis.spatial(i + 1, j)
                    A[vi, vj] = 0.0
        """,
        r"domain of an axis is made of numbers and sizes; i \+ 1 varies between runs",
    ),
    "domain of an iter": (
        'A: T.Buffer((16, 16), "float32")',
        """
        for i in range(16):
            with T.block("outer"):
                vi = T.axis.spatial(16, i)
                for j in range(vi + 1):
                    with T.block("A"):
                        vj = T.axis.spatial((0, vi + 1), j)
                        A[vi, vj] = 0.0
        """,
        r"domain of an axis is made of numbers and sizes; vi \+ 1 varies",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_unsupported_constructs_are_refused_at_their_line(name):
    params, body, message = REFUSED[name]
    with pytest.raises(ScriptError, match=message) as refused:
        parse(program(params, body))
    assert refused.value.lineno is not None and "^" in str(refused.value)


def test_both_spellings_of_function_attributes_are_one():
    one, other = (
        parse(program(AB, f'T.func_attr({{"{home}.noalias": True}})\n' + NEST.format("A[vi]")))
        for home in ("tir", "tirx")
    )
    assert difference(one.mlir, other.mlir) is None


def test_a_scalar_keeps_its_width():
    text = program(*CORPUS["scalar parameters of every type"])
    assert "n: T.int64, m: T.int32, x: T.float32, y: T.float64, b: T.bool, s: T.int8" in parse(text).script()

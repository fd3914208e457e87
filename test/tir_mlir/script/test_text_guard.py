"""MLIR text on which MLIR ends the process is refused, at each door, with its line."""

from __future__ import annotations

import pytest

from tir_mlir import Schedule, interpret
from tir_mlir.dialect.diagnostics import ScriptError, TirError
from tir_mlir.dialect.ir import enter_context
from tir_mlir.opt.input import InputChunk, module_of
from tir_mlir.script import IRModule
from tir_mlir.script.linalg import from_linalg
from tir_mlir.script.mlir_text import parse_mlir
from tir_mlir.script.parser.source import SourceText
from tir_mlir.tune.search.study_settings import program_of

HEAD = "module {\n"
FUNCTION = "func.func @NAME(%a: memref<8xf32>) {\naffine.for %i = 0 to 4 {\n%c = arith.constant 1.0 : f32\n"
FUNCTION += "affine.store %c, %a[INDEX] : memref<8xf32>\n}\nreturn\n}\n"


def program(name: str = "main", index: str = "%i") -> str:
    return HEAD + FUNCTION.replace("NAME", name).replace("INDEX", index) + "}\n"


ALIASES = "".join(f"#a{n} = [#a{n - 1}]\n" for n in range(1, 100_000))
LAUGHS = "".join(f"#a{n} = [{', '.join([f'#a{n - 1}'] * 10)}]\n" for n in range(1, 30))
REFUSED = {
    "modules in each other": (HEAD * 50_000 + "}" * 50_000, "more than 250 brackets in each other"),
    "lists in each other": (
        "module attributes {a = " + "[" * 200_000 + "]" * 200_000 + "} {}",
        "more than 250 brackets",
    ),
    "types in each other": (f"!a = {'tuple<' * 99_999}{'>' * 99_999}\nmodule {{}}", "more than 250 brackets"),
    "aliases in each other": (f"#a0 = 1\n{ALIASES}module attributes {{a = #a99999}} {{}}", "aliases written out"),
    "a large alias": (f"#a0 = 1\n{LAUGHS}module attributes {{a = #a29}} {{}}", "aliases that are too large"),
    "many signs": (program(index="-" * 100_000 + "%i"), "an expression of more than 1000 operators"),
    "many sums": (program(index="%i + " * 100_000 + "%i"), "an expression of more than 1000 operators"),
    "a zero byte": (program("ma\0in"), "the text has a zero byte"),
    "a zero byte in a name": (program(r'"a\00b"'), r'"a\\00b" has a zero byte'),
    "half a character": (program("\ud800"), "cannot be written as UTF-8"),
    "a name that is not UTF-8": (program(r'"\FF"'), r'"\\FF" is not UTF-8 text'),
    "mod 0": (program(index="%i mod 0"), "affine.store: mod 0; a divisor is at least 1"),
    "mod -2": (program(index="%i mod -2"), "affine.store: mod -2; a divisor is at least 1"),
    "mod of a computed 0": (program(index="%i mod (2 - 2)"), "affine.store: mod 0; a divisor is at least 1"),
    "floordiv 0": (program(index="%i floordiv 0"), "affine.store: floordiv 0; a divisor is at least 1"),
    "ceildiv 00": (program(index="%i ceildiv 00"), "affine.store: ceildiv 0; a divisor is at least 1"),
    "mod 0 in a type": (
        HEAD + "func.func private @f(memref<4xf32, affine_map<(d0) -> (d0 mod 0)>>)\n}\n",
        "func.func: mod 0; a divisor is at least 1",
    ),
}
DOORS = {
    "from_mlir": IRModule.from_mlir,
    "from_linalg": from_linalg,
    "interpret": lambda text: interpret(text, []),
    "tir-opt": lambda text: module_of(InputChunk("file.mlir", text, False)),
    "records and studies": lambda text: parse_mlir(text, SourceText("record", text.splitlines(keepends=True))),
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("what", REFUSED)
def test_refused(what, door):
    text, message = REFUSED[what]
    with enter_context(), pytest.raises(TirError, match=message) as refusal:
        DOORS[door](text)
    assert "\n  " in str(refusal.value) or door == "tir-opt"  # its line


@pytest.mark.parametrize("door", ["from_mlir", "tir-opt"])
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ('""', "a function has an empty name"),
        ('"llvm.memcpy.x"', "llvm.memcpy.x has the name of an intrinsic of LLVM"),
    ],
)
def test_names_of_which_no_code_can_be_made(name, message, door):
    with enter_context(), pytest.raises(TirError, match=message):
        DOORS[door](program(name))


def test_a_refusal_names_the_line():
    with pytest.raises(ScriptError, match=r"a divisor is at least 1\n  <mlir>:5\n"):
        IRModule.from_mlir(program(index="%i mod 0"))


@pytest.mark.parametrize(
    "text",
    [
        program(r'"a\22b"'),
        program('"größe"'),
        program(r'"gr\C3\B6\C3\9Fe"'),
        program(index="(" * 200 + "%i" + ")" * 200),
        program(index="%i + " + " + ".join(f"{n} * 0" for n in range(300))),
        program(index="%i mod 4 + (%i floordiv 0004)"),
        "#map = affine_map<(d0) -> (d0)>\n" + program().replace("%a[%i]", "%a[%i] {m = [#map, #map]}"),
        program() + "// {[(<" * 300,
        program().replace("1.0 : f32", '1.0 : f32 loc("' + "{[(<" * 300 + '")'),
    ],
)
def test_taken(text):
    Schedule(IRModule.from_mlir(text))


def test_a_deep_nest_is_refused_by_name():
    """Below the bound of brackets, what runs out of stack is a refusal too."""
    loops = "".join(f"affine.for %i{n} = 0 to 2 {{\n" for n in range(240))
    text = HEAD + f"func.func @main(%a: memref<8xf32>) {{\n{loops}{'}' * 240}\nreturn\n}}\n}}\n"
    try:
        IRModule.from_mlir(text)
    except ScriptError as error:
        assert "nested too deeply" in str(error)


def test_data_of_a_global_is_no_name():
    text = r'llvm.mlir.global internal constant @text("\00\FF") {addr_space = 0 : i32}' + "\n"
    with enter_context():
        assert "text" in str(module_of(InputChunk("file.mlir", text, False)))


@pytest.mark.parametrize("door", [from_linalg, program_of])
def test_blocks_without_names_are_judged(door):
    block = '{tir.block = "A", tir.iters = ["S"], tir.min = affine_map<() -> (0)>, tir.extent = affine_map<() -> (8)>}'
    text = "func.func @main(%a: memref<8xf32>) {\n%c = arith.constant 1.0 : f32\naffine.for %i = 0 to 9 {\n"
    text += "affine.parallel (%v) = (%i) to (%i + 1) {\naffine.store %c, %a[%v] : memref<8xf32>\n} " + block + "\n}\n"
    with pytest.raises(TirError, match=r"has the domain \[0, 8\)|bound|outside"):
        door(text + "return\n}\n")

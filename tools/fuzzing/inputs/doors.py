"""MLIR text made to end the process, at every door through which text comes; records that somebody changed."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from random import Random

from fuzzing.inputs import corpus, texts
from fuzzing.inputs.judging import Fault, described, short, tried
from fuzzing.inputs.mlir import ODD, lowered
from tir_mlir import Schedule, interpret, schedules
from tir_mlir.dialect.diagnostics import TirError
from tir_mlir.dialect.ir import enter_context
from tir_mlir.opt.diagnostics import MLIR_ERROR
from tir_mlir.opt.input import InputChunk, module_of
from tir_mlir.script.linalg import from_linalg
from tir_mlir.script.module import IRModule
from tir_mlir.script.parser import parse
from tir_mlir.tune.records.record import Record, decode, encode, subject
from tir_mlir.tune.records.recorded_program import recorded_program
from tir_mlir.tune.search.study_settings import program_of

SIZES = (2, 30, 249, 250, 251, 900, 1001, 3000, 50_000)
NAMES = (
    '"a\\00b"', '"\\FF"', '"a\\22() #9"', '"\\C3\\A9"', '""', '"llvm.memcpy.x"', '"a b"', "main", '"f{}/*"', "\0",
    "\ud800",
)  # fmt: skip
ENDS = (
    "mod 0", "floordiv 0", "ceildiv 0", "mod -3", "mod (1 - 1)", "floordiv 9223372036854775808", "mod (%i)", "mod 4",
)  # fmt: skip
AROUND = (("module {\n", "}"), ("(", ")"), ("[", "]"), ("tuple<", ">"), ("-", ""), ("%i + ", ""))


def nested(random: Random, text: str) -> str:
    """Brackets in each other: around the text, in an attribute, in an index, in a type."""
    count = random.choice(SIZES)
    before, after = random.choice(AROUND)
    if before.startswith("module"):
        return before * count + text + after * count
    at = random.choice([n for n, c in enumerate(text) if c in "[(<={"] or [0]) + 1
    return text[:at] + before * count + random.choice(("1", "%i", "f32", "")) + after * count + text[at:]


def renamed(random: Random, text: str) -> str:
    """A name of a function, or a text in quotes, that is none."""
    at = text.find("@")
    end = min((n for n in (text.find(c, at) for c in "( ") if n > at), default=at)
    return text[: at + 1] + random.choice(NAMES) + text[end:] if at >= 0 else text + random.choice(NAMES)


def divided(random: Random, text: str) -> str:
    """An index with a division."""
    at = text.find("]", text.find("["))
    return text[:at] + f" {random.choice(ENDS)}" + text[at:]


def aliases(random: Random, text: str) -> str:
    """Aliases that use each other."""
    count, width = random.choice(SIZES), random.choice((1, 1, 2, 10))
    lines = [f"#a{n} = [{', '.join([f'#a{n - 1}'] * width)}]" for n in range(1, count)]
    return "\n".join(["#a0 = 1", *lines, f"module attributes {{a = #a{count - 1}}} {{", text, "}"])


MADE: tuple[Callable[[Random, str], str], ...] = (nested, renamed, divided, aliases, lambda random, text: text)


def case(random: Random) -> str:
    """A text at a door, or a record that is used."""
    if random.random() < 0.25:
        return _record(random)
    text = random.choice(MADE)(random, texts.changed(random, corpus.mlir(random), ODD)) + "\n"
    return _refused_by_name(text, random.choice(DOORS))


def _refused_by_name(text: str, door: Callable[[str], object]) -> str:
    return tried(short(text), lambda: door(text))[0]


def _scheduled(text: str) -> object:
    module = IRModule.from_mlir(text)
    Schedule(module).get_block("root")
    return lowered(module)


def _opened(text: str) -> object:
    try:
        with enter_context():
            return module_of(InputChunk("fuzz.mlir", text, False))
    except MLIR_ERROR as error:  # `tir-opt` tells it with its position
        raise TirError(str(error)) from None


DOORS: tuple[Callable[[str], object], ...] = (
    _scheduled, _opened, program_of, from_linalg, lambda text: interpret(text, []), IRModule.from_mlir,
)  # fmt: skip


@cache
def _one() -> tuple[Record, IRModule]:
    module = parse(corpus.MATMUL)
    sch = Schedule(module)
    schedules.auto(sch)
    module = module if isinstance(module, IRModule) else IRModule({"main": module})
    return subject(module).record(space="fuzz", decisions={}, trace=sch.trace.as_json(), seconds=(1.0,)), module


def _record(random: Random) -> str:
    """A record with a changed text: it is refused by name, or gives a program that was compared."""
    record, module = _one()
    text = texts.changed(random, encode(record), ("[]", "{}", "null", '"main"', '"A"', "-1", "1e999", *NAMES[:4]))
    word, got = tried(short(text), lambda: decode(text))
    if word == "accepted":
        word, got = tried(short(text), lambda: recorded_program(got, module.mlir))
    if word != "accepted" and not isinstance(got, TirError):
        raise Fault(f"not an error of the package: {described(got)}\n{short(text)}")
    return word

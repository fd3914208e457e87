"""Pass flags and pipelines: passes with their own options, with those of others, and with unknown ones."""

from __future__ import annotations

from functools import cache
from random import Random

from fuzzing.inputs import texts
from tir_mlir.opt.pass_options import summary
from tir_mlir.opt.pipeline_text import our_passes, primitive_name
from tir_mlir.opt.upstream import IN_PROCESS
from tir_mlir.passes.schedule import PRIMITIVES

LOOPS = ("i", "j", "k", "i_0", "i0", "i1", "C:i", "B:k", "AB:k", "T1:i1", "#1", "#2", "#3", "#99", "nobody", "")
BLOCKS = ("C", "B", "AB", "T1", "T2", "root", "#3", "nobody", "")
VALUES = {
    "loops": ("i,j", "k,i", "i_0,i_1", "k,B:i", "i,i", "i", "#1,#2"),
    "loop": LOOPS,
    "block_or_loop": (*LOOPS, *BLOCKS),
    "target": (*LOOPS, *BLOCKS),
    "block": BLOCKS,
    "factors": ("none,2", "4,none", "none,4,2", "4,32", "0,2", "-1,99999999999999999999", "x", "[]"),
    "padding": ("4,4,4", "1,1", "0", "x"),
    "map": ("'lambda i, j: (j, i)'", "'lambda i: (i // 4, i % 4)'", "'lambda i: i // 0'", "'lambda'", "x"),
    "ranges": ("'lambda vi: [(vi, vi + 1)]'", "'lambda vi, vj: [vi, vj]'", "x"),
    "scope": ("shared", "local", "global", "x.y", "1"),
    "value": ("1", '"x y"', "[1,{a: 2}]", "true"),
    "axis": ("threadIdx.x", "blockIdx.y", "0", "-1", "vthread", "x"),
    "dtype": ("float16", "int8", "x"),
    "buf_type": ("read", "write", "x"),
    "intrin": ("dot_4x4", "nobody"),
    "index": ("0", "0", "1", "9", "-1", "A", "C", "[write,0]"),
    "decision": ("[1,2]", "1", "none"),
    "bool": ("true", "false", "1", "x"),
    "order": ("1,0", "0,1,2", "0,0"),
}
ODD = ("loop=i", "block=C", "func=main", "func=nobody", "nobody=1", "=", "{", "'", "x", "n=2", "loop=i loop=j")
NAMES = ("affine-loop-tile", "inline", "nobody", "tir-nobody", "convert-scf-to-openmp", "", "é", "canonicalise")
FRAMES = ("builtin.module({})", "{}", "{},cse", "func.func({})", "builtin.module(func.func({}), cse)", "any({})")


@cache
def _known() -> tuple[list[str], list[str]]:
    return sorted(our_passes()), sorted(IN_PROCESS)


def one(random: Random) -> str:
    """Return a flag; only a few are upstream passes that need a process of their own."""
    ours, upstream = _known()
    name = random.choice(ours if random.random() < 0.6 else upstream)
    if random.random() < 0.03:
        name = random.choice(NAMES)
    options = _own(random, name) if name in ours else ""
    if random.random() < 0.12:
        options = " ".join([options, random.choice(ODD)]).strip()
    if random.random() < 0.75:
        return f"--{name}={options}" if options else f"--{name}"
    text = random.choice(FRAMES).format(f"{name}{{{options}}}" if options else name)
    if random.random() < 0.15:
        text = texts.character_changed(random, text, ODD)
    return f"--pass-pipeline={text}"


def _own(random: Random, name: str) -> str:
    """Return options of a pass with values it may accept."""
    primitive = PRIMITIVES.get(primitive_name(name))
    if primitive is None:
        return ""
    given = []
    for option in summary(primitive):
        key = option.strip("[]")
        if option == key or random.random() < 0.25:
            kind = next((k for k in VALUES if k in key), "bool")
            given.append(f"{key}={random.choice(VALUES[kind])}")
    return " ".join(given)

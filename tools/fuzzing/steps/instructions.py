"""Small intrinsics for `tensorize`, generated on demand: fill, copy, sum, product. The implementation is a TIR program
with reversed loops, so that its semantics can be analyzed like any other."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from tir_mlir import TensorIntrin
from tir_mlir.script.parser import parse

UPDATES = {
    "zero": ("{D}[{v}] = {T}(0)", 1),
    "copy": ("{D}[{v}] = X[{v}]", 2),
    "add": ("{D}[{v}] = X[{v}] + Y[{v}]", 3),
    "sum": ("{D}[0] = {D}[0] + X[{v}]", 2),
    "dot": ("{D}[0] = {D}[0] + X[{v}] * Y[{v}]", 3),
}


def instruction(block: str, dtype: str, lengths: Sequence[int], random: Random) -> str:
    """Return the name of an intrinsic over loops of some lengths that may match a block of that name."""
    word = random.choice(list(UPDATES))
    if random.random() < 0.8:
        if "_init" in block or block.endswith("_0"):
            word = "zero"
        elif "_update" in block:
            word = random.choice(("sum", "dot"))
        elif any(s in block for s in ("global", "shared", "local", "reindex")):
            word = "copy"
    lengths = [n for n in lengths if n != 1] or [1]
    name = f"test_{word}_{dtype}_{'x'.join(map(str, lengths))}"
    if TensorIntrin.get(name, allow_missing=True) is None:
        desc, impl = (_text(word, dtype, lengths, backwards) for backwards in (False, True))
        TensorIntrin.register(name, parse(desc), parse(impl))
    return name


def _text(word: str, dtype: str, lengths: Sequence[int], backwards: bool) -> str:
    update, count = UPDATES[word]
    sums = word in ("sum", "dot")
    names = [f"v{n}" for n in range(len(lengths))]
    loops = [f"i{n}" for n in range(len(lengths))]
    shape = "".join(f"{n}, " for n in lengths)
    at = ", ".join(f"{n} - 1 - {v}" if backwards else v for n, v in zip(lengths, names, strict=True))
    ranges = [f"0:{n}" for n in lengths]
    params = ["D", "X", "Y"][:count]
    head = []
    for p in params:
        own = "1, " if sums and p == "D" else shape
        strides = ", ".join(f"s{p}{n}" for n in range(1 if sums and p == "D" else len(lengths)))
        if backwards:
            head += [f"{s} = T.int32()" for s in strides.split(", ")]
        head.append(f'{p} = T.match_buffer(h{p}, ({own}), "{dtype}"{f", strides=[{strides}]" if backwards else ""})')
    target = "D[0:1]" if sums else f"D[{', '.join(ranges)}]"
    reads = [f"{p}[{', '.join(ranges)}]" for p in params[1:]]
    axes = [f"{v} = T.axis.{'reduce' if sums else 'spatial'}({n}, {i})"
            for v, n, i in zip(names, lengths, loops, strict=True)]  # fmt: skip
    pad = "    "
    lines = [
        "@T.prim_func",
        f"def main({', '.join(f'h{p}: T.handle' for p in params)}):",
        *[pad + line for line in head],
        pad + 'with T.block("root"):',
        pad * 2 + f"T.reads({', '.join([*([target] if sums else []), *reads])})",
        pad * 2 + f"T.writes({target})",
        pad * 2 + f"for {', '.join(loops)} in T.grid({', '.join(map(str, lengths))}):",
        pad * 3 + 'with T.block("step"):',
        *[pad * 4 + line for line in axes],
        pad * 4 + update.format(D="D", v=at, T=f"T.{dtype}"),
    ]
    return "\n".join(lines)

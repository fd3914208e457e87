"""Intrinsics for `tensorize` that match a whole block: products with transposed operands and mixed types.

The implementation is the description with reversed loops, so that its semantics can be analyzed like any other.
"""

from __future__ import annotations

import math

from tir_mlir import TensorIntrin
from tir_mlir.schedule.info import BlockInfo, RegionInfo
from tir_mlir.script.parser import parse

MOST = 512
"""Maximum iterations of an intrinsic."""


def whole(info: BlockInfo) -> str | None:
    """Return the name of an intrinsic for a block that copies, adds, fills, sums or multiplies and sums its operands;
    None if an index of an operand is not a single iter."""
    names = [name for name, _ in info.iters]
    lengths = [it.dom.extent for it in info.iter_vars]
    sums = any(kind == "R" for _, kind in info.iters)
    if len(info.writes) != 1 or any(kind == "O" for _, kind in info.iters):
        return None
    target = info.writes[0]
    operands = [target, *[r for r in info.reads if r.buffer.name != target.buffer.name]]
    places = [_places(region, names) for region in operands]
    if None in lengths or None in places or not 1 <= len(operands) <= 3 or (sums and len(operands) < 2):
        return None
    if any(info.iters[n][1] == "R" for n in places[0] or []):  # possible for an unchecked declared region
        return None
    sizes = [int(n or 0) for n in lengths]
    if not 1 <= math.prod(sizes) <= MOST:
        return None
    types = [r.buffer.dtype for r in operands]
    scopes = [r.buffer.storage_scope for r in operands]
    word = ("zero", "sum" if sums else "copy", "dot" if sums else "add")[len(operands) - 1]
    shape = "_".join("".join(map(str, p or [])) for p in places)
    kinds = "".join(kind for _, kind in info.iters)
    name = f"test_whole_{word}_{'_'.join(types + scopes)}_{shape}_{kinds}_{'x'.join(map(str, sizes))}"
    if TensorIntrin.get(name, allow_missing=True) is None:
        desc, impl = (
            _text(word, kinds, types, scopes, [p or [] for p in places], sizes, turned) for turned in (False, True)
        )
        TensorIntrin.register(name, parse(desc), parse(impl))
    return name


def _places(region: RegionInfo, names: list[str]) -> list[int] | None:
    """Return the iters that index a one-element region, in order."""
    if any(r.extent != 1 for r in region.region) or any(len(a) != 1 for a in region.axes):
        return None
    found = [names.index(a[0]) for a in region.axes]
    return found if found and len(set(found)) == len(found) else None


def _text(
    word: str,
    kinds: str,
    types: list[str],
    scopes: list[str],
    places: list[list[int]],
    sizes: list[int],
    backwards: bool,
) -> str:
    iters = [f"v{n}" for n in range(len(sizes))]
    at = [f"{size} - 1 - {v}" if backwards else v for size, v in zip(sizes, iters, strict=True)]
    head, elements, regions = [], [], []
    for p, dtype, scope, own in zip("DXY", types, scopes, places, strict=False):
        strides = [f"s{p}{n}" for n in range(len(own))]
        head += [f"{s} = T.int32()" for s in strides if backwards]
        given = f', scope="{scope}"' + (f", strides=[{', '.join(strides)}]" if backwards else "")
        head.append(f'{p} = T.match_buffer(h{p}, ({"".join(f"{sizes[n]}, " for n in own)}), "{dtype}"{given})')
        elements.append(f"{p}[{', '.join(at[n] for n in own)}]")
        regions.append(f"{p}[{', '.join(f'0:{sizes[n]}' for n in own)}]")
    wide = [e if t == types[0] else f'T.Cast("{types[0]}", {e})' for e, t in zip(elements, types, strict=True)]
    value = {
        "zero": f"T.{types[0]}(0)", "copy": wide[-1], "add": " + ".join(wide[1:]),
        "sum": f"{elements[0]} + {wide[-1]}", "dot": f"{elements[0]} + {' * '.join(wide[1:])}",
    }[word]  # fmt: skip
    pad = "    "
    words = {"S": "spatial", "R": "reduce"}
    lines = [
        "@T.prim_func",
        f"def main({', '.join(f'h{p}: T.handle' for p in 'DXY'[: len(types)])}):",
        *[pad + line for line in head],
        pad + 'with T.block("root"):',
        pad * 2 + f"T.reads({', '.join(regions if word in ('sum', 'dot') else regions[1:])})",
        pad * 2 + f"T.writes({regions[0]})",
        pad * 2 + f"for {', '.join(f'i{n}' for n in range(len(sizes)))} in T.grid({', '.join(map(str, sizes))}):",
        pad * 3 + 'with T.block("step"):',
        *[pad * 4 + f"v{n} = T.axis.{words[k]}({sizes[n]}, i{n})" for n, k in enumerate(kinds)],
        pad * 4 + f"{elements[0]} = {value}",
    ]
    return "\n".join(lines)

"""What torch wants to be true of sizes, and whether it is true of all of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from operator import eq, ge, gt, le, lt, ne
from typing import TYPE_CHECKING

from tir_mlir.dialect.diagnostics import TirError
from tir_mlir.dialect.symbolic import evaluate, parse

if TYPE_CHECKING:
    import sympy
    import torch
    from torch.fx.experimental.symbolic_shapes import ShapeEnv

_GUARD = re.compile(
    r"Not all values of (?P<name>\w+) = .* in the specified range (?:(?P<least>\d+) <= )?(?:\w+ )?"
    r"(?:<= (?P<greatest>\d+) )?satisfy the generated guard (?P<guard>.*?)\.?$"
)
_RANGE = re.compile(r"(?P<least>\d+) <= (?P<size>\S+) and (?P=size) <= (?P<greatest>\d+|IntInfinity\(\))")
_SIZE = re.compile(r"L\[[^ ]*?\.size\(\)\[\d+\]")
_COMPARISON = re.compile(r"(?P<left>[^=!<>]+) (?P<how>==|!=|<=|>=|<|>) (?P<right>[^=!<>]+)")
_UNBOUNDED = 1 << 16
"""The greatest size that is tried without a limit."""
_SMALL = 64
"""The sizes from the least on that are all tried."""
_COMPARED: dict[str, Callable[[int, int], bool]] = {"==": eq, "!=": ne, "<=": le, ">=": ge, "<": lt, ">": gt}


def guard_ranges(message: str) -> dict[str, tuple[int, int | None]] | None:
    """The ranges of sizes, {"t": (60, None)}, for which the guards of a refusal hold, of those that are tried: small
    ones, and some of each magnitude. Then torch could only not decide `32 * (t // 20 - 1) % (t // 20 - 1) == 0`. Where
    a guard fails for the first sizes only, as torch takes 1 for a constant, the range begins after them.

    No proof: what a graph computes with sizes is proved where its operators are typed. None for a message without
    guards, and where one does not hold or is not understood.
    """
    found = [_GUARD.search(line) for line in message.splitlines() if "generated guard" in line]
    matches = [match for match in found if match is not None]
    ranges: dict[str, tuple[int, int | None]] = {}
    for match in matches:
        narrowed = _RANGE.fullmatch(match["guard"]) or match
        ranges[match["name"]] = _limits(ranges.get(match["name"], (0, None)), narrowed)
    others = [match for match in matches if not _RANGE.fullmatch(match["guard"])]
    for match in others:
        least, greatest = ranges[match["name"]]
        first = _holds_from(match["guard"], least, greatest)
        if first is None:
            return None
        ranges[match["name"]] = first, greatest
    return ranges if others and len(matches) == len(found) else None


def tied_sizes(graph: torch.fx.Graph) -> dict[sympy.Basic, sympy.Basic]:
    """The sizes of inputs that torch found to be equal to expressions of others, as forward adds them, say:
    {s0: (s1 + 1) // 2}, also where it leaves that to a check at run time. Calls check them, as any size of an input.
    Where neither side is one size there is none."""
    values = [node.meta.get("val") for node in graph.nodes if node.op == "placeholder"]
    sizes = [size for value in values for size in getattr(value, "shape", ()) if hasattr(size, "node")]
    alone = {size.node.expr for size in sizes if size.node.expr.is_Symbol}
    equal: dict[sympy.Basic, sympy.Basic] = {}
    for condition in _conditions(sizes[0].node.shape_env) if sizes else ():
        if type(condition).__name__ != "Equality":
            continue
        sides = [side.xreplace(equal) for side in condition.args]
        for size, other in (sides, sides[::-1]):
            others = other.free_symbols
            if size.is_Symbol and size in alone and others and others <= alone - {size, *equal}:
                equal = {known: form.xreplace({size: other}) for known, form in equal.items()} | {size: other}
                break
    return equal


def _conditions(shapes: ShapeEnv) -> list[sympy.Basic]:
    """What torch decided of sizes, and what it leaves to checks at run time."""
    deferred = [each for several in shapes.deferred_runtime_asserts.values() for each in several]
    return [each.expr for each in (*shapes.guards, *deferred)]


def _limits(known: tuple[int, int | None], match: re.Match[str]) -> tuple[int, int | None]:
    """A range as far as it is in that of a match."""
    greatest = [n for n in (known[1], int(match["greatest"]) if (match["greatest"] or "").isdigit() else None) if n]
    return max(known[0], int(match["least"] or 0)), min(greatest, default=None)


def _holds_from(text: str, least: int, greatest: int | None) -> int | None:
    """The size from which on a guard holds, one of the small ones of the range; None where there is none."""
    names = dict.fromkeys(_SIZE.findall(text))
    compared = _COMPARISON.fullmatch(_SIZE.sub("size", text))
    if len(names) != 1 or compared is None:
        return None
    try:
        left, right = parse(compared["left"]), parse(compared["right"])
    except TirError:
        return None
    holds = _COMPARED[compared["how"]]
    failed = least - 1
    for size in _candidate_sizes(least, _UNBOUNDED if greatest is None else greatest):
        try:
            true = holds(*(evaluate(side, {"size": size}.__getitem__) for side in (left, right)))
        except ZeroDivisionError:
            true = False
        failed = failed if true else size
    return failed + 1 if failed < least + _SMALL else None


def _candidate_sizes(least: int, greatest: int) -> Iterator[int]:
    """The first sizes of a range, its last ones, and those next to the multiples of ever longer steps."""
    yield from range(least, min(greatest, least + _SMALL) + 1)
    step = _SMALL
    while least + step < greatest:
        yield from (least + step - 1, least + step, least + step + 1)
        step += max(1, step // 7)
    yield from range(max(least, greatest - 1), greatest + 1)

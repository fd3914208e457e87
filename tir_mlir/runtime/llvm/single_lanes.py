"""LLVM IR without masked stores of one lane, of which LLVM 22.1 makes wrong code. The last rewrite before the code
generator: masks become constants when loops are unrolled."""

from __future__ import annotations

import re
from math import gcd

MASKED_STORE = "llvm.masked.store."
_STORE = re.compile(
    r"^(?P<indent> *)(?:(?:tail|musttail|notail) )?call void @llvm\.masked\.store\.\S+\("
    r"<(?P<lanes>\d+) x i(?P<bits>\d+)> (?P<value>%[-\w.$]+|%\"[^\"]*\"), "
    r"ptr (?P<facts>(?:(?!getelementptr|inttoptr|addrspacecast|null|undef|poison)[a-z_]+(?:\(\d+\)| \d+)? )*)"
    r"(?P<pointer>\S.*), "
    r"<(?P=lanes) x i1> <(?P<mask>i1 [^>]*)>\)(?: #\d+)?(?P<metadata>(?:, ![^,]+)*)$",
    re.MULTILINE,
)


def store_single_lanes(text: str) -> str:
    """Store the one lane of each masked store of integers whose mask is a constant with one lane.

        call void @llvm.masked.store.v4i8.p0(<4 x i8> %t, ptr align 4 %p, <4 x i1> <i1 false, i1 true, ...>)
            -->
        %lane = extractelement <4 x i8> %t, i64 1
        %slot = getelementptr i8, ptr %p, i64 1
        store i8 %lane, ptr %slot, align 1

    LLVM 22.1 joins a truncation and a masked store, and then replaces one lane by a store of the wide element: on CPUs
    with AVX-512 the elements behind are overwritten (llvm/llvm-project#179489). Masks with other numbers of lanes,
    masked loads, gathers, scatters, compressing stores and expanding loads are right.
    """
    found = 0

    def scalar(match: re.Match[str]) -> str:
        nonlocal found
        lanes = [n for n, bit in enumerate(match["mask"].split(", ")) if bit == "i1 true"]
        if len(lanes) != 1:
            return match[0]
        (lane,), bits, indent = lanes, int(match["bits"]), match["indent"]
        name, found = f"%tir.lane.{found}", found + 1
        given = re.search(r"align (\d+)", match["facts"])
        align = gcd(int(given[1]), lane * bits // 8) if given else 1
        return (
            f"{indent}{name} = extractelement <{match['lanes']} x i{bits}> {match['value']}, i64 {lane}\n"
            f"{indent}{name}.slot = getelementptr i{bits}, ptr {match['pointer']}, i64 {lane}\n"
            f"{indent}store i{bits} {name}, ptr {name}.slot, align {align}{match['metadata']}"
        )

    return _STORE.sub(scalar, text)

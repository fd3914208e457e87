"""The body of a function is compiled once, though it has several entries."""

import numpy as np
from programs.parsed import parse
from programs.short import each, main

from tir_mlir import build

SQUARES = main("A:64 B:64", each("B:64", "B[vi] = T.sqrt(A[vi])"), name="f")


def test_the_machine_code_has_one_body():
    lines = build(parse(SQUARES), cache=False).assembly.splitlines()
    holders, inside = set(), ""
    for line in lines:
        if line.endswith(">:"):
            inside = line.split("<")[1][:-2]
        if "sqrt" in line:
            holders.add(inside)
    assert holders == {"_mlir_ciface_f"}


def test_both_entries_compute():
    lib = build(parse(SQUARES), cache=False)
    a, b = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    lib["f"](a, b)
    lib["f"](A=a, B=(c := np.zeros(64, np.float32)))
    assert np.array_equal(b, np.sqrt(a)) and np.array_equal(c, b)

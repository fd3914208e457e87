"""Searches and modules whose functions call each other."""

from __future__ import annotations

import pytest
from programs.parsed import parse

from tir_mlir.dialect.diagnostics import TuneError
from tir_mlir.script import IRModule
from tir_mlir.tune.search.tune_entry import _module


def module() -> IRModule:
    return parse("""
@T.prim_func
def main(x: T.Buffer((16,)), y: T.Buffer((16,))):
    double(x, y)

@T.prim_func(private=True)
def double(A: T.Buffer((16,)), B: T.Buffer((16,))):
    for i in range(16):
        with T.block("B"):
            vi = T.axis.spatial(16, i)
            B[vi] = A[vi] + A[vi]
""")


def test_a_module_of_calls_is_refused():
    with pytest.raises(TuneError, match=r"main calls double: a function is tuned by itself; fix: tune\("):
        _module(module())


def test_a_private_function_is_tuned():
    mod = module()
    found = _module(mod["double"])
    assert "private" not in found.script()
    assert "private" in mod.script()

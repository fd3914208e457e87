"""Translation of each TVMScript expression."""

from __future__ import annotations

import re

import pytest
from harness.scripts import body, function

# ---- expressions


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("B[vi, vj] = 1", r"arith.constant 1.0+e\+00 : f32"),
        ("B[vi, vj] = A[vi, vj] * 2", r"arith.constant 2.0+e\+00 : f32"),
        ("B[vi, vj] = T.max(A[vi, vj], T.float32(0))", "arith.maximumf"),
        ("B[vi, vj] = max(A[vi, vj], 0.0, 2)", "arith.maximumf"),
        ("B[vi, vj] = -A[vi, vj]", "arith.negf"),
        ("B[vi, vj] = A[vi, vj] / N", r"arith.constant 1.60*e\+01 : f32"),
        ("B[vi, vj] = T.exp(A[vi, vj])", "math.exp"),
        ("B[vi, vj] = T.sqrt(T.abs(A[vi, vj]))", "math.absf"),
        ("B[vi, vj] = T.pow(A[vi, vj], 2)", "math.powf"),
        ("B[vi, vj] = T.fma(A[vi, vj], A[vi, vj], 1)", "math.fma"),
        ("B[vi, vj] = T.rsqrt(A[vi, vj]) + T.tanh(A[vi, vj]) + T.erf(A[vi, vj])", "math.rsqrt"),
        ("B[vi, vj] = T.floor(A[vi, vj]) + T.ceil(A[vi, vj]) + T.round(A[vi, vj])", "math.round"),
        ("B[vi, vj] = T.sigmoid(A[vi, vj])", "arith.divf"),
        ("B[vi, vj] = A[vi, vj] + vi", "arith.sitofp"),
        ("B[vi, vj] = T.Cast('float32', I[vi])", "arith.sitofp"),
        ("B[vi, vj] = T.cast(I[vi], 'float32')", "arith.sitofp"),
        ("B[vi, vj] = T.float32(I[vi])", "arith.sitofp"),
        ("B[vi, vj] = T.Cast('float32', T.Cast('float16', A[vi, vj]))", "arith.truncf"),
        ("B[vi, vj] = A[vi, vj] + I[vi]", "arith.sitofp"),
        ("B[vi, vj] = T.if_then_else(vi < 3, A[vi, vj], 0)", "affine.if"),
        ("B[vi, vj] = A[vi, vj] if vi == 3 else T.float32(0)", "affine.if"),
        ("B[vi, vj] = T.if_then_else(A[vi, vj] > 0, A[vi, vj], 0)", "scf.if"),
        ("B[vi, vj] = T.if_then_else(vi < 3 or vj > 2, A[vi, vj], 0)", "arith.ori"),
        ("B[vi, vj] = T.if_then_else(1 <= vi < 3 and not vj < 2, A[vi, vj], 0)", "affine.if"),
        ("B[vi, vj] = T.if_then_else(vi != 3, A[vi, vj], 0)", "arith.cmpi ne"),
        ("B[vi, vj] = T.Select(A[vi, vj] > 0, A[vi, vj], 0)", "arith.select"),
        ("B[vi, vj] = T.float32('-inf')", "0xFF800000"),
        ("B[vi, vj] = T.min_value('float32')", "-3.40282347E"),
        ("B[vi, vj] = A[vi // 4 * 4 + vi % 4, vj]", "floordiv 4"),
        ("B[vi, vj] = A[I[vi], vj]", "memref.load"),
        ("if vi < 1 and vj < 1:\n    B[I[0], I[1]] = 1", "memref.store"),
        ("B[vi, vj] = A[vi * vj % 16, vj]", "memref.load"),
        ("B[vi, vj] = A[vi + (1 != 1), vj * (2 > 1)]", r"affine.load %\w+\[%\w+, %\w+\]"),
        ("I[vi] = vi", "arith.index_cast"),
        ("I[vi] = vi * 2 + 1", "affine.apply"),
        ("I[vi] = vi // 3 + vi % 3", "affine.apply"),
        ("I[vi] = I[vi] // 3 + I[vi] % 3", 'tir.op = "floormod"'),
        ("I[vi] = T.truncdiv(I[vi], 3) + T.truncmod(I[vi], 3)", "arith.remsi"),
        ("I[vi] = T.min(vi, 3)", "arith.minsi"),
        ("I[vi] = (I[vi] << 1) | (I[vi] >> 2) & 7 ^ 1", "arith.shrsi"),
        ("I[vi] = vi * vj", "arith.muli"),
        ("I[vi] = T.ceildiv(I[vi], 2)", "arith.ceildivsi"),
        ("x = A[vi, vj] + 1\nB[vi, vj] = x * x", 'tir.name = "x"'),
        ("x: T.let[T.float32] = A[vi, vj] + 1\nB[vi, vj] = x * x", 'tir.name = "x"'),
        ("x: T.float32 = A[vi, vj] + 1\nB[vi, vj] = x * x", 'tir.name = "x"'),
        ("p, q = FACTORS\nB[vi, vj] = A[vi // p, vj // q]", r"floordiv 4, %\w+ floordiv 2"),
        ("if vi < 3:\n    B[vi, vj] = 1\nelse:\n    B[vi, vj] = 2", "else"),
        ("if A[vi, vj] > 0:\n    B[vi, vj] = 1\nelif vi < 3:\n    B[vi, vj] = 2", "scf.if"),
        ("if N > 3:\n    B[vi, vj] = 1\nelse:\n    B[vi, vj] = A[vi]", "affine.store"),
        ("B[vi, vj] -= A[vi, vj]", "arith.subf"),
        ("B[vi, vj] *= 2", "arith.mulf"),
        ("'a remark'\npass\nT.evaluate(0)\nB[vi, vj] = sum([1, 2])", r"arith.constant 3.0+e\+00 : f32"),
        ("B[vi, vj] = len([f for f in FACTORS if f > 2])", r"arith.constant 1.0+e\+00 : f32"),
    ],
)
def test_expressions(text: str, found: str):
    if "I[vi] =" in text:  # one store an element of I
        params = "A: T.Buffer((16, 8)), B: T.Buffer((16, 8)), I: T.Buffer((16, 8), 'int32')"
        text = text.replace("I[vi]", "I[vi, vj]")
        shown = body(text, params)
    else:
        shown = body(text)
    assert re.search(found, shown), shown


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "int8", "int16", "int32", "int64"])
def test_types(dtype: str):
    text = f"B[vi, vj] = A[vi, vj] + 1\nB[vi, vj] = T.Cast('{dtype}', T.Cast('float32', A[vi, vj]) * 0.5)"
    body(text, f"A: T.Buffer((16, 8), '{dtype}'), B: T.Buffer((16, 8), '{dtype}')")


def test_bool():
    shown = body("B[vi, vj] = A[vi, vj] > 0 and vi < 3", "A: T.Buffer((16, 8)), B: T.Buffer((16, 8), 'bool')")
    assert "arith.cmpf ogt" in shown and "arith.andi" in shown and "memref<16x8xi1>" in shown
    body("B[vi, vj] = T.bool(True)", "B: T.Buffer((16, 8), 'bool')")


def test_widening():
    shown = body("B[vi, vj] = A[vi, vj] + I[vi]", "A: T.Buffer((16, 8), 'int64'), B: T.Buffer((16, 8), 'int64'), "
                 "I: T.Buffer((16,), 'int32')")  # fmt: skip
    assert "arith.extsi" in shown


def test_a_scalar_buffer():
    function("S = T.alloc_buffer(())\nS[()] = 1.0\nB[0, 0] = S[()]")


def test_only_the_chosen_side_is_loaded():
    shown = body("B[vi, vj] = T.if_then_else(vi >= 1, A[vi - 1, vj], T.float32(0))")
    assert shown.index("affine.if") < shown.index("affine.load")

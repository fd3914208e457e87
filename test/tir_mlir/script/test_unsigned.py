"""Unsigned integers: every operation computes what NumPy does, in all evaluators, and its text parses to the same."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from programs.short import each, program

from tir_mlir import Schedule, build, interpret
from tir_mlir.dialect.diagnostics import ArgumentError, ScriptError
from tir_mlir.dialect.ir import walk
from tir_mlir.equivalence import equivalent
from tir_mlir.script import parse

SIZE = 37  # not a multiple of a vector
PROGRAM = """
@T.prim_func
def main(A: T.Buffer((37,), "{dtype}"), B: T.Buffer((37,), "{dtype}"), C: T.Buffer((37,), "{result}")):
    for i in range(37):
        with T.block("C"):
            vi = T.axis.spatial(37, i)
            C[vi] = {value}
"""
WIDTHS = {"uint8": 8, "uint16": 16, "uint32": 32, "uint64": 64}


def _program(value: str, dtype: str, result: str = ""):
    return parse(PROGRAM.format(value=value, dtype=dtype, result=result or dtype))


def _inputs(dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """Values from the whole range, the top half and its edges included; the second ones are not zero."""
    random, top = np.random.default_rng(3), np.iinfo(dtype).max
    a, b = (random.integers(0, top, SIZE, dtype, endpoint=True) for _ in "ab")
    a[:6], b[:6] = [0, top, top, 1, top // 2 + 1, top // 2], [1, 1, top, top, 3, top // 2 + 1]
    return a, np.maximum(b, 1)


def _runs(mod, dtype: str, result: str = "") -> dict[str, np.ndarray]:
    """The results of compiled code, of vectorized code, and of the interpreter."""
    a, b = _inputs(dtype)
    sch = Schedule(mod)
    sch.vectorize(sch.get_loops(sch.get_block("C"))[0])
    runs = {"compiled": build(mod), "vectorized": build(sch), "interpreted": lambda *x: interpret(mod, *x)}
    found = {}
    for name, run in runs.items():
        c = np.zeros(SIZE, result or dtype)
        run(a, b, c)
        found[name] = c
    return found


def _check(value: str, expected, dtype: str, result: str = "") -> None:
    mod = _program(value, dtype, result)
    text = mod.script()
    assert parse(text).equal(mod)
    assert parse(text).script() == text
    with np.errstate(all="ignore"):
        wanted = expected(*_inputs(dtype)).astype(result or dtype)
    for name, found in _runs(mod, dtype, result).items():
        np.testing.assert_array_equal(found, wanted, name)


OPERATIONS = {
    "A[vi] + B[vi]": lambda a, b: a + b,
    "A[vi] - B[vi]": lambda a, b: a - b,
    "A[vi] * B[vi]": lambda a, b: a * b,
    "A[vi] // B[vi]": lambda a, b: a // b,
    "A[vi] % B[vi]": lambda a, b: a % b,
    "T.truncdiv(A[vi], B[vi])": lambda a, b: a // b,
    "T.truncmod(A[vi], B[vi])": lambda a, b: a % b,
    "T.ceildiv(A[vi], B[vi])": lambda a, b: a // b + (a % b != 0),
    "T.max(A[vi], B[vi])": np.maximum,
    "T.min(A[vi], B[vi])": np.minimum,
    "A[vi] >> (B[vi] % 8)": lambda a, b: a >> (b % 8).astype(a.dtype),
    "A[vi] << (B[vi] % 8)": lambda a, b: a << (b % 8).astype(a.dtype),
    "A[vi] & B[vi]": lambda a, b: a & b,
    "A[vi] | B[vi]": lambda a, b: a | b,
    "A[vi] ^ B[vi]": lambda a, b: a ^ b,
    "~A[vi]": lambda a, b: ~a,
    "-A[vi]": lambda a, b: np.negative(a),
    "T.abs(A[vi])": lambda a, b: a,
    "A[vi] // 3 + 200": lambda a, b: a // a.dtype.type(3) + a.dtype.type(200),
    "T.Select(A[vi] < B[vi], A[vi], B[vi])": np.minimum,
    "T.if_then_else(A[vi] >= B[vi], A[vi], B[vi])": np.maximum,
    "T.popcount(A[vi])": lambda a, b: np.bitwise_count(a).astype(a.dtype),
    "T.Select(A[vi] < 7, T.{dtype}(1), T.max_value('{dtype}'))": lambda a, b: np.where(a < 7, 1, np.iinfo(a.dtype).max),
}


@pytest.mark.few(8)
@pytest.mark.filterwarnings("ignore:.*runs serially")
@pytest.mark.parametrize("value", OPERATIONS)
@pytest.mark.parametrize("dtype", ["uint8", "uint32"])
def test_an_operation_is_numpys(value: str, dtype: str) -> None:
    _check(value.replace("{dtype}", dtype), OPERATIONS[value], dtype)


@pytest.mark.few(8)
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*runs serially")
@pytest.mark.parametrize("value", OPERATIONS)
@pytest.mark.parametrize("dtype", ["uint16", "uint64"])
def test_an_operation_is_numpys_in_other_widths(value: str, dtype: str) -> None:
    _check(value.replace("{dtype}", dtype), OPERATIONS[value], dtype)


@pytest.mark.parametrize("sign", ["<", "<=", ">", ">=", "==", "!="])
@pytest.mark.parametrize("dtype", WIDTHS)
def test_a_comparison_reads_the_top_bit_as_a_number(sign: str, dtype: str) -> None:
    compare = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}
    compare |= {"==": np.equal, "!=": np.not_equal}
    value = f'T.Cast("int32", A[vi] {sign} B[vi])'
    _check(value, lambda a, b: compare[sign](a, b), dtype, "int32")


CASTS = [
    *[("uint8", to) for to in ("int8", "int32", "int64", "uint16", "uint64", "float32", "float64", "float16")],
    *[("uint16", to) for to in ("uint8", "int16", "float32")],
    *[("uint32", to) for to in ("uint8", "int32", "int64", "uint64", "float32", "float64")],
    *[("uint64", to) for to in ("uint32", "int64", "float32", "float64", "bool")],
    *[("int8", to) for to in ("uint8", "uint32")],
    *[("int32", to) for to in ("uint8", "uint32", "uint64")],
]


@pytest.mark.parametrize(("source", "to"), CASTS)
@pytest.mark.few(4)
def test_a_cast_is_numpys(source: str, to: str) -> None:
    _check(f'T.Cast("{to}", A[vi])', lambda a, b: a.astype(to), source, to)


@pytest.mark.parametrize("to", ["uint8", "uint32", "uint64"])
def test_a_float_is_truncated_to_an_unsigned_integer(to: str) -> None:
    mod = parse(PROGRAM.replace('B: T.Buffer((37,), "{dtype}"), ', "").format(
        dtype="float64", result=to, value=f'T.Cast("{to}", A[vi])'))  # fmt: skip
    a = np.linspace(0, float(np.iinfo(to).max), SIZE) * 0.99
    for run in (build(mod), lambda *x: interpret(mod, *x)):
        c = np.zeros(SIZE, to)
        run(a, c)
        np.testing.assert_array_equal(c, a.astype(to))


def test_a_loop_variable_is_cast() -> None:
    _check('T.Cast("uint8", vi * 9)', lambda a, b: np.arange(SIZE) * 9, "uint8")


def test_a_scalar_parameter() -> None:
    mod = parse("""
@T.prim_func
def main(x: T.uint8, C: T.Buffer((4,), "uint8")):
    for i in range(4):
        with T.block("C"):
            vi = T.axis.spatial(4, i)
            C[vi] = x // 3
""")
    lib, c = build(mod), np.zeros(4, "uint8")
    lib(250, c)
    assert c.tolist() == [83] * 4
    with pytest.raises(ArgumentError, match="is -1; a number that fits uint8 is needed"):
        lib(-1, c)
    assert "x: T.uint8" in mod.script()


def test_an_unsigned_index_is_not_negative() -> None:
    mod = program("A:256 P:4:uint8 C:4", each("C:4", "C[vi] = A[P[vi]]"))
    a, p = np.arange(256, dtype="float32"), np.array([0, 127, 128, 255], "uint8")
    for run in (build(mod), lambda *x: interpret(mod, *x)):
        c = np.zeros(4, "float32")
        run(a, p, c)
        np.testing.assert_array_equal(c, a[p])
    assert parse(mod.script()).equal(mod)


def test_the_type_is_part_of_the_signature() -> None:
    a, b = _inputs("uint8")
    with pytest.raises(ArgumentError, match="is of type int8; uint8 is needed"):
        build(_program("A[vi]", "uint8"))(a.view("int8"), b, a.copy())


def test_int8_and_uint8_are_different_programs() -> None:
    assert not _program("A[vi] + B[vi]", "uint8").equal(_program("A[vi] + B[vi]", "int8"))


def test_every_op_is_one_of_upstream() -> None:
    """The ops alone say what is unsigned: without the attributes the module computes the same."""
    found = {op.name for op in walk.ops(_program("T.max(A[vi] // B[vi], A[vi] >> 1) % 3", "uint16").mlir.operation)}
    assert {"arith.divui", "arith.shrui", "arith.maxui", "arith.remui"} <= found


REFUSED = {
    "A[vi] + T.int8(1)": "uint8 and int8 have no common type; convert one side with T.Cast",
    "A[vi] + 300": "the constant 300 does not fit type uint8",
    "A[vi] - (-1)": "the constant -1 does not fit type uint8",
    "A[vi] + T.Cast('int8', B[vi])": "uint8 and int8 have no common type",
    "T.Cast('int8', A[vi])": "buffer C holds uint8 but the value has type int8",
    "A[vi] / B[vi]": "/ divides floats",
    "T.uint8(256)": "the constant 256 does not fit type uint8",
}


@pytest.mark.parametrize("value", REFUSED)
def test_what_has_no_unsigned_meaning_is_refused(value: str) -> None:
    with pytest.raises(ScriptError, match=REFUSED[value]):
        _program(value, "uint8")


def test_a_wider_signed_type_holds_both() -> None:
    _check('A[vi] - T.Cast("int32", B[vi])', lambda a, b: a.astype("int32") - b, "uint8", "int32")


@pytest.mark.parametrize("dtype", WIDTHS)
def test_verify_tells_the_signs_apart(dtype: str) -> None:
    """The same bits divided as signed and as unsigned are different programs."""
    wide = f"int{WIDTHS[dtype]}"
    plain = _program("A[vi] // B[vi]", dtype)
    signed = _program(f'T.Cast("{dtype}", T.Cast("{wide}", A[vi]) // T.Cast("{wide}", B[vi]))', dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert equivalent(plain, plain)
        assert not equivalent(plain, signed)

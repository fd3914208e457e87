"""Vector values: built and interpreted results equal NumPy's; what they cannot be is refused."""

import re
import textwrap

import numpy as np
import pytest

import tir_mlir
from tir_mlir import interpret
from tir_mlir.compat.equality import structural_hash
from tir_mlir.dialect.diagnostics import NotInterpreted, ScriptError
from tir_mlir.script import parse
from tir_mlir.script.structural_equal import difference


def program(params: str, body: str) -> str:
    return f"@T.prim_func\ndef main({params}):\n{textwrap.indent(textwrap.dedent(body).strip(), '    ')}\n"


def floats(*shape: int) -> np.ndarray:
    return np.random.default_rng(len(shape)).uniform(-2, 2, shape).astype("float32")


def ints(dtype: str, *shape: int) -> np.ndarray:
    info = np.iinfo(dtype)
    return np.random.default_rng(3).integers(info.min, info.max, shape, dtype, endpoint=True)


def words(values: np.ndarray) -> np.ndarray:
    return values.view("int32")


# name: parameters, body, arguments, what the last one becomes
PROGRAMS = {
    "a loop of vectors": (
        'A: T.Buffer((20,), "float32"), B: T.Buffer((20,), "float32")',
        "for i in range(5):\n    B[T.ramp(i * 4, 1, 4)] = A[T.ramp(i * 4, 1, 4)] * T.broadcast(2.0, 4) + A[i]",
        [floats(20), floats(20)],
        lambda a, b: a * 2 + np.repeat(a[:5], 4),
    ),
    "ragged lanes": (
        'A: T.Buffer((3, 7), "float32"), B: T.Buffer((3, 7), "float32")',
        "for i in range(3):\n    B[i, 0:7] = A[i, 0:7] - A[2 - i, 0:7]",
        [floats(3, 7), floats(3, 7)],
        lambda a, b: a - a[::-1],
    ),
    "strides": (
        'A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")',
        "B[0:16:2] = A[T.ramp(15, -2, 8)]\nB[1:16:2] = A[T.ramp(3, 0, 8)]",
        [floats(16), floats(16)],
        lambda a, b: np.stack([a[15::-2], np.full(8, a[3])], 1).ravel(),
    ),
    "columns": (
        'A: T.Buffer((4, 6), "int16"), B: T.Buffer((6, 4), "int16")',
        "for i in range(4):\n    B[0:6, i] = A[i, 0:6]\nfor i in range(2):\n    B[0:6, i] = B[0:6, i + 2]",
        [ints("int16", 4, 6), ints("int16", 6, 4)],
        lambda a, b: a.T[:, [2, 3, 2, 3]],
    ),
    "several rows": (
        'A: T.Buffer((5, 4), "int8"), B: T.Buffer((3, 8), "int8")',
        'B.vstore([1, 0], A.vload([1, 0], "int8x16"))\nB[0, 0:8] = A[0, 0:8] + A.vload([3, 0], "int8x8")',
        [ints("int8", 5, 4), ints("int8", 3, 8)],
        lambda a, b: np.concatenate([a.ravel()[:8] + a.ravel()[12:20], a.ravel()[4:20]]).reshape(3, 8),
    ),
    "bits": (
        'A: T.Buffer((8,), "int8"), B: T.Buffer((2,), "int32")',
        'B[0:2] = T.reinterpret("int32x2", A[0:8])\nB[1] = B[1] + T.reinterpret("int32", A[4:8])',
        [ints("int8", 8), ints("int32", 2)],
        lambda a, b: words(a) * np.array([1, 2], "int32"),
    ),
    "bits of floats": (
        'A: T.Buffer((4,), "float32"), B: T.Buffer((8,), "uint16")',
        'B[0:8] = T.reinterpret("uint16x8", A[0:4] * 0.5)',
        [floats(4), ints("uint16", 8)],
        lambda a, b: (a / 2).view("uint16"),
    ),
    "unsigned lanes": (
        'A: T.Buffer((8,), "uint8"), B: T.Buffer((8,), "uint8"), C: T.Buffer((8,), "int32")',
        """
        C[0:8] = T.Cast("int32x8", T.max(A[0:8], B[0:8]) // T.uint8(3)) - T.Cast("int32x8", A[0:8] > B[0:8])
        """,
        [ints("uint8", 8), ints("uint8", 16)[8:].copy(), ints("int32", 8)],
        lambda a, b, c: np.maximum(a, b).astype("int32") // 3 - (a > b),
    ),
    "choices": (
        'A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")',
        "B[0:8] = T.Select(A[0:8] > 0.0 and not (A[0:8] > 1.0), T.sqrt(T.abs(A[0:8])), -A[0:8])",
        [floats(8), floats(8)],
        lambda a, b: np.where((a > 0) & ~(a > 1), np.sqrt(np.abs(a)), -a),
    ),
    "lanes": (
        'A: T.Buffer((8,), "int16"), B: T.Buffer((4,), "int16")',
        "B[0:4] = T.Shuffle([A[0:4], A[4:8]], [0, 7, 1, 5])\nB[2] = T.Shuffle([A[0:4]], [3])",
        [ints("int16", 8), ints("int16", 4)],
        lambda a, b: a[[0, 7, 3, 5]],
    ),
    "ramps as values, and moved": (
        'A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")',
        """
        for i in range(4):
            with T.block("B"):
                vi = T.axis.spatial(4, i)
                B[vi * 4 + T.ramp(0, 1, 4)] = A[15 - T.ramp(vi, 1, 4) * 2] * T.Cast("float32x4", T.ramp(vi, 3, 4))
        """,
        [floats(16), floats(16)],
        lambda a, b: np.concatenate(
            [a[[15 - 2 * (i + k) for k in range(4)]] * (i + 3 * np.arange(4)) for i in range(4)]
        ).astype("float32"),
    ),
    "half floats": (
        'A: T.Buffer((8,), "float16"), B: T.Buffer((8,), "float32")',
        'B[0:8] = T.Cast("float32x8", A[0:8] + T.float16(1)) * T.float32x8(3)',
        [floats(8).astype("float16"), floats(8)],
        lambda a, b: (a + np.float16(1)).astype("float32") * 3,
    ),
    "sums of lanes": (
        'A: T.Buffer((8,), "float32"), I: T.Buffer((8,), "int32"), B: T.Buffer((4,), "float32")',
        """
        B[0] = T.call_llvm_pure_intrin("float32", "llvm.vector.reduce.fadd", A[0], A[0:8])
        B[1] = T.call_llvm_pure_intrin("float32", "llvm.vector.reduce.fmaximum", A[0:8])
        B[2] = T.call_llvm_pure_intrin("int32", "llvm.vector.reduce.add", I[0:8])
        B[3] = T.call_llvm_pure_intrin("int32", "llvm.vector.reduce.umax.v8i32", I[0:8])
        """,
        [np.arange(8, dtype="float32"), np.arange(8, dtype="int32"), floats(4)],
        lambda a, i, b: np.array([a.sum(), a.max(), i.sum(), 7], "float32"),
    ),
    "scalars beside vectors": (
        'A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")',
        "B[0:8] = T.fma(A[0:8], 2.0, A[0]) + T.max(A[0:8], A[1])",
        [floats(8), floats(8)],
        lambda a, b: a * 2 + a[0] + np.maximum(a, a[1]),
    ),
    "fused": (
        'A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")',
        'B[0:4] = T.call_llvm_pure_intrin("float32x4", "llvm.fma", A[0:4], A[0:4], T.broadcast(1.0, 4))',
        [floats(4), floats(4)],
        lambda a, b: (a.astype("float64") ** 2 + 1).astype("float32"),
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_built_and_interpreted_results_are_numpys(name: str) -> None:
    params, body, arrays, meaning = PROGRAMS[name]
    module = parse(program(params, body))
    want = meaning(*arrays)
    built, run = ([a.copy() for a in arrays] for _ in range(2))
    tir_mlir.build(module)["main"](*built)
    interpret(module, *run)
    np.testing.assert_array_equal(built[-1], want)
    np.testing.assert_array_equal(run[-1], want)


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_printed_program_is_the_same(name: str) -> None:
    module = parse(program(*PROGRAMS[name][:2]))
    for spelling in ("block", "sblock"):
        text = module.script(spelling=spelling)
        again = parse(text)
        assert again.script(spelling=spelling) == text
        assert difference(module.mlir, again.mlir) is None
        assert structural_hash(module) == structural_hash(again)


def test_a_view_with_strides_and_an_offset_is_read_by_rows() -> None:
    module = parse(
        program(
            "a: T.handle, b: T.handle",
            """
            s = T.int32()
            A = T.match_buffer(a, (4, 8), "float32", strides=[s, 1], offset_factor=1)
            B = T.match_buffer(b, (4, 8), "float32")
            for i in range(4):
                B[i, 0:8] = A[i, 0:8] + A[i, T.ramp(7, -1, 8)]
            """,
        )
    )
    whole, result = floats(9, 20), floats(4, 8)
    part = whole[2:6, 3:11]
    tir_mlir.build(module)["main"](part, result)
    np.testing.assert_array_equal(result, part + part[:, ::-1])


REFUSED = {
    "B[0:4] = A[0:5]": "4 elements are stored to buffer B, but the value has the lanes of float32x5",
    "B[0] = A[0:4]": "1 element is stored to buffer B, but the value has the lanes of float32x4",
    "B[0:4] = A[0:4] + A[0:8]": "float32x4 and one of type float32x8 differ in lanes",
    "B[0:n] = A[0]": "a slice of B is a value of a constant number of lanes",
    "B[0:4, 0] = A[0]": "buffer B has 1 axes but 2 indices",
    "M[0:4, 0:4] = A[0]": "a value has the lanes of one axis; M is sliced along 2",
    "M[0, 2:10] = A[0:8]": "M is written at indices 2 to 9 in dimension 1, which has 4 rows",
    "B[12:20] = A[0:8]": "B is written at indices 12 to 19 in dimension 0, which has 16 rows",
    "B[T.ramp(0, 0, 4)] = A[0:4]": "all lanes are stored to one element of B: the stride is 0",
    "B[0:16:n] = A[0:4]": "the step of a slice is a constant of 1 or more",
    "B[T.ramp(0, n, 4)] = A[0:4]": "the stride of a ramp is a constant integer",
    "B[T.ramp(0, 1, 2000)] = A[0]": "a vector value has 2 to 1024 lanes, not 2000",
    "B[0:4] = A[T.broadcast(1, 4)]": "an index is one integer, not a value of type int32x4",
    "B[0:4] = A[I[0]:I[0] + 4]": "the lanes of A start at an affine expression",
    "B[0] = T.ramp(0, 1, 4)": "1 element is stored to buffer B, but the value has the lanes of int32x4",
    "B[0:4] = T.ramp(I[0], 1, 4)": "a ramp starts at an affine expression",
    "B[0:4] = A[T.ramp(0, 1, 4) // 2]": "an index is one integer, not a value of type int32x4",
    'B[0:4] = A.vload([0], "int32x4")': "A holds float32; int32x4 is loaded by T.reinterpret",
    "B[0:4] = A.vload()": re.escape('A.vload is used as A.vload([0], "float32x4")'),
    'B[0] = T.Cast("float32", A[0:4])': "a value of type float32x4 has 4 lanes; float32 has 1",
    'B[0] = T.reinterpret("float32", I[0:2])': "int32x2 and float32 differ in width",
    "B[0] = T.Shuffle([A[0:4]], [4])": "the indices of T.Shuffle are constants of 0 to 3",
    "P[0:4] = A[0:4] > 0.0": "P holds bool, whose vectors have no form in memory",
    "if A[0:4] > 0.0:\n    B[0] = A[0]": "boolx4 has 4 lanes; bool has 1",
    'B[0] = T.call_llvm_pure_intrin("float32", "sqrt", A[0])': 'is "llvm." and words with dots',
    'B[0] = T.call_llvm_pure_intrin("float32", "llvm.s\\\\q", A[0])': 'is "llvm." and words with dots',
    "B[0:4] = T.if_then_else(n > 3, A[0:4], A[4:8])": "not a value of type float32x4; T.Select chooses lanes",
    'T.call_extern("int32", "f", A[0:4])': "a C function takes pointers and numbers, not a value of type float32x4",
    'B[0] = T.call_llvm_pure_intrin("float32", "llvm.sqrt", T.uint32(2), A[0])': "is given 1 arguments; their number",
    'B[0] = T.call_llvm_pure_intrin("float32", "llvm.sqrt", A.data)': "a pure intrinsic accesses no memory",
    "B[0] = T.call_llvm_pure_intrin(A[0])": "a call of an intrinsic has a type and a name",
}


@pytest.mark.parametrize("statement", REFUSED)
def test_what_a_vector_cannot_be_is_refused(statement: str) -> None:
    params = (
        'n: T.int32, A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32"), M: T.Buffer((16, 4), "float32"), '
        'I: T.Buffer((16,), "int32"), P: T.Buffer((16,), "bool")'
    )
    with pytest.raises(ScriptError, match=REFUSED[statement]):
        parse(program(params, statement))


def test_an_unknown_intrinsic_is_not_interpreted() -> None:
    params, body = PROGRAMS["fused"][:2]
    module = parse(program(params, body.replace("llvm.fma", "llvm.x86.some")))
    with pytest.raises(NotInterpreted, match=r"cannot interpret llvm.x86.some; run it built"):
        interpret(module, floats(4), floats(4))


def test_parameters_and_buffers_hold_scalars() -> None:
    for params, body in (("x: T.int32x4", "pass"), ("", 'A = T.alloc_buffer((4,), "int32x4")')):
        with pytest.raises(ScriptError, match="a buffer has elements of one lane"):
            parse(program(params, body))

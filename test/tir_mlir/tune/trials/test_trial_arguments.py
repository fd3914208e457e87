"""Arguments that a candidate gets."""

import numpy as np
import pytest
from programs.parsed import parse
from programs.short import each, program

from tir_mlir.build import build
from tir_mlir.dialect.diagnostics import TuneError
from tir_mlir.dialect.ir import held_module
from tir_mlir.equivalence.random_arguments import as_float, cast_to_dtype, copy_aligned, random_arguments
from tir_mlir.tune.trials.local_measurer import signature_of, sum_length

HEAD = "@I.ir_module\nclass Module:\n    @T.prim_func\n    def main"
PRODUCT = (
    HEAD
    + """(a: T.handle, b: T.handle, c: T.handle):
        n = T.int64()
        A = T.match_buffer(a, (n, 24), "float32")
        B = T.match_buffer(b, (24, 8), "float32")
        C = T.match_buffer(c, (n, 8), "float32")
        for i, j, k in T.grid(n, 8, 24):
            with T.block("C"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
"""
)
GATHER = (
    HEAD
    + """(A: T.Buffer((8,), "float32"), X: T.Buffer((64,), "int32"), B: T.Buffer((64,), "float32")):
        for i in range(64):
            with T.block("B"):
                vi = T.axis.spatial(64, i)
                B[vi] = A[X[vi]]
"""
)
STRIDED = (
    HEAD
    + """(a: T.handle, B: T.Buffer((4, 8), "float32")):
        A = T.match_buffer(a, (4, 8), "float32", strides=(32, 1))
        for i, j in T.grid(4, 8):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj]
"""
)


def signature(text):
    program = parse(text)
    return program.mlir, signature_of(build(program, cache=False), "")


def test_shape_variables_need_values():
    module, of = signature(PRODUCT)
    with pytest.raises(
        TuneError, match=r"main: a program is measured at sizes, and n has none; fix: pass sizes=\{'n': "
    ):
        random_arguments(module, of, {}, 0)


def test_shapes_are_those_of_the_sizes():
    module, of = signature(PRODUCT)
    arrays = random_arguments(module, of, {"n": 5}, 0)
    assert [a.shape for a in arrays] == [(5, 24), (24, 8), (5, 8)] and {a.dtype.name for a in arrays} == {"float32"}


def test_the_seed_decides():
    module, of = signature(PRODUCT)
    one, same, other = (random_arguments(module, of, {"n": 5}, seed)[0] for seed in (1, 1, 2))
    assert (one == same).all() and (one != other).any()


def test_indices_are_inside_what_they_index():
    module, of = signature(GATHER)
    indices = random_arguments(module, of, {}, 0)[1]
    assert indices.min() >= 0 and indices.max() == 7


def test_arguments_lie_on_lines_of_the_cache():
    module, of = signature(PRODUCT)
    arrays = copy_aligned(random_arguments(module, of, {"n": 5}, 0), of)
    assert all(a.ctypes.data % 64 == 0 for a in arrays)


def test_strides_are_those_of_the_parameter():
    module, of = signature(STRIDED)
    values = random_arguments(module, of, {}, 0)
    arrays = copy_aligned(values, of)
    assert arrays[0].strides == (128, 4) and (arrays[0] == values[0]).all()


def test_a_sum_has_as_many_terms_as_its_loop():
    module, of = signature(PRODUCT)
    assert 24 <= sum_length(module, of, {"n": 64}) <= 30


def test_the_sum_of_a_norm_has_as_many_terms_as_a_row():
    norm = program(
        "A:4x96 B:4x96; S:4",
        each("S i:4 k:96R", "S[vi] += A[vi, vk]", init="S[vi] = 0.0"),
        each("B i:4 j:96", "B[vi, vj] = A[vi, vj] / S[vi]"),
    )
    module = held_module(norm)
    of = signature_of(build(norm, cache=False), "")
    assert sum_length(module, of, {}) == 96


def test_a_program_of_two_functions_needs_a_name():
    text = PRODUCT + PRODUCT.partition("class Module:\n")[2].replace("def main", "def other")
    built = build(parse(text), cache=False)
    assert signature_of(built, "other").name == "other"
    with pytest.raises(TuneError, match="one function: no function is named, and the program has main, other; fix"):
        signature_of(built, "")
    with pytest.raises(TuneError, match="one function: 'third', and the program has main, other; fix: pass function="):
        signature_of(built, "third")


def test_bfloat16_is_kept_as_its_bits():
    bits = cast_to_dtype(np.array([1.0, -2.5]), "bfloat16")
    assert bits.dtype == np.uint16 and as_float(bits, "bfloat16").tolist() == [1.0, -2.5]

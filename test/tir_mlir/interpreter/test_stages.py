"""A program is run after each pass of the lowering, up to memory that is bare pointers: the same numbers every time."""

import warnings

import numpy as np
import pytest
from programs.parsed import parse
from programs.products import summed_product
from programs.short import each, main

from tir_mlir import Schedule, interpret, schedules
from tir_mlir.dialect.diagnostics import NotInterpreted
from tir_mlir.dialect.ir import enter_context
from tir_mlir.examples.matmul import schedule_matmul
from tir_mlir.passes.lower import LOWERINGS, pipeline
from tir_mlir.passes.lower.to_llvm import run_upstream
from tir_mlir.target import AVX2

ADDRESSES, LAST = "tir-lower-addresses", "finalize-memref-to-llvm"


def stages(program):
    """The module after each pass, with the name of the pass, up to the last one that has buffers. What the pass of
    addresses leaves to upstream takes the same way; here, that is all."""
    with enter_context(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        module = program.mod.clone().mlir if hasattr(program, "mod") else program.clone().mlir
        parallel = False
        for name in pipeline.MODULE_PASSES:
            parallel = LOWERINGS[name].run(module) is True or parallel
            yield name, module
        for name in pipeline.pass_names(parallel):
            if name == ADDRESSES:
                continue
            if name.startswith("tir-"):
                LOWERINGS[name].run(module)
            else:
                run_upstream(module, (name,))
            yield name, module
            if name == LAST:
                return


def check(program, *arrays):
    """Every stage leaves what the program leaves; returns its arrays."""
    wanted = [a.copy() for a in arrays]
    interpret(program, *wanted)
    ran = []
    for name, module in stages(program):
        got = [a.copy() for a in arrays]
        if name == LAST:
            with pytest.raises(
                NotInterpreted, match="during lowering, the last stage that can be interpreted is the one before"
            ):
                interpret(module, *got)
            break
        interpret(module, *got)
        for one, other in zip(got, wanted, strict=True):
            np.testing.assert_array_equal(one, other, err_msg=name)
        ran.append(name)
    assert ran[-1] == "lower-affine" and len(ran) > len(pipeline.MODULE_PASSES)
    return wanted


def whole(*shape, dtype=np.float32):
    return np.random.default_rng(0).integers(-4, 5, shape).astype(dtype)


@pytest.mark.parametrize("size", [(1, 15, 3), (7, 17, 16)])
def test_a_ready_made_schedule(size):
    m, n, k = size
    sch = Schedule(summed_product(m, n, k))
    schedules.gemm(sch, "C", target=AVX2)
    a, b, c = whole(m, k), whole(k, n), np.zeros((m, n), np.float32)
    np.testing.assert_array_equal(check(sch, a, b, c)[2], a @ b)


def test_the_chapters_instruction():
    a, b, c = whole(32, 16), whole(16, 16), np.zeros((32, 16), np.float32)
    np.testing.assert_array_equal(check(schedule_matmul(32, 16, 16), a, b, c)[2], a @ b.T)


def test_dot_products_of_integers():
    sch = Schedule(summed_product(3, 16, 9, "int8", "int32"))
    schedules.gemm(sch, "C", target=AVX2)
    a, b, c = whole(3, 9, dtype=np.int8), whole(9, 16, dtype=np.int8), np.zeros((3, 16), np.int32)
    np.testing.assert_array_equal(check(sch, a, b, c)[2], a.astype(np.int32) @ b)


def test_threads_and_symbolic_sizes():
    program = Schedule(
        parse(
            main(
                "A:nx9:float16 B:n:float16",
                each("B i:n k:9R", "B[vi] = B[vi] + T.exp(A[vi, vk])", init="B[vi] = T.float16(0)"),
            )
        )
    )
    program.parallel(program.get_loops("B")[0])
    a = np.random.default_rng(0).integers(-1, 2, (17, 9)).astype(np.float16)
    wanted = [a.copy(), np.zeros(17, np.float16)]
    interpret(program, *wanted)
    for name, module in stages(program):
        got = [a.copy(), np.zeros(17, np.float16)]
        if name == LAST:
            break
        interpret(module, *got)
        np.testing.assert_allclose(got[1], wanted[1], rtol=2e-3, err_msg=name)

"""Random kernels that the PTX machine would run for too long are known by their loops."""

from fuzzing.kernels.case import turns
from tir_mlir import Schedule
from tir_mlir.script import parse

PROGRAM = """
from tvm.script import tir as T
@T.prim_func
def f(A: T.Buffer((4, 3, 40), "float32"), B: T.Buffer((5,), "float32")):
    for i in T.thread_binding(4, thread="blockIdx.x"):
        for j in range(3):
            for k in T.thread_binding(40, thread="threadIdx.x"):
                with T.block("A"):
                    vi, vj, vk = T.axis.remap("SSS", [i, j, k])
                    A[vi, vj, vk] = 1.0
    for i in range(5):
        with T.block("B"):
            vi = T.axis.spatial(5, i)
            B[vi] = 1.0
"""


def test_turns_count_warps_blocks_and_serial_loops():
    assert turns(Schedule(parse(PROGRAM))) == 4 * 3 * 2 + 5

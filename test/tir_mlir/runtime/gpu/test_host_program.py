"""Host functions as launches: grids of symbolic sizes, memory of the function, several kernels, limits."""

import pytest
from mlir import ir

from tir_mlir.dialect.ir import enter_context
from tir_mlir.errors import BuildError
from tir_mlir.passes.lower.gpu.outline import kernel_memory
from tir_mlir.runtime.gpu.host_program import GRID_LIMITS, DeviceBuffer, HostProgram, Scalar, bits_of

KERNELS = """gpu.module @f_kernels {
  gpu.func @f_kernel(%A: memref<?xf32>, %n: index) kernel { gpu.return }
  gpu.func @f_kernel_1(%A: memref<?xf32>, %B: memref<?xf32>, %x: f32) kernel { gpu.return }
}"""


def program(body, parameters="%A: memref<?xf32>, %n: index, %x: f32"):
    text = (
        f"module attributes {{gpu.container_module}} {{ func.func @f({parameters}) {{\n{body}\nreturn }}\n{KERNELS} }}"
    )
    with enter_context():
        module = ir.Module.parse(text)
        return HostProgram(module.body.operations[0].operation)


ONE = "%one = arith.constant 1 : index\n%threads = arith.constant 128 : index\n"
LAUNCH = """gpu.launch_func @f_kernels::@f_kernel blocks in (%grid, %one, %one) threads in (%threads, %one, %one)
  args(%A : memref<?xf32>, %n : index)"""
SYMBOLIC = ONE + "%grid = affine.apply affine_map<()[s0] -> (s0 ceildiv 128)>()[%n]\n" + LAUNCH


@pytest.mark.parametrize(("n", "blocks"), [(1, 1), (128, 1), (129, 2), (0, 0)])
def test_the_grid_follows_the_size(n, blocks):
    (launch,) = program(SYMBOLIC).prepare([(n,), n, None]).launches
    assert (launch.launch.grid, launch.launch.block, launch.blocks) == ((blocks, 1, 1), (128, 1, 1), blocks)
    assert launch.arguments == (DeviceBuffer(0, False, (n,)), n)


def test_memory_of_the_function_and_two_kernels_in_order():
    body = (
        SYMBOLIC
        + """
      %B = memref.alloc(%n) : memref<?xf32>
      %bytes = arith.constant 65536 : i32
      gpu.launch_func @f_kernels::@f_kernel_1 blocks in (%one, %one, %one) threads in (%threads, %one, %one)
        dynamic_shared_memory_size %bytes args(%A : memref<?xf32>, %B : memref<?xf32>, %x : f32)
      memref.dealloc %B : memref<?xf32>"""
    )
    call = program(body).prepare([(10,), 10, None])
    assert call.temporaries == [40]
    first, second = call.launches
    assert (first.launch.kernel, second.launch.kernel) == ("f_kernel", "f_kernel_1")
    assert (first.launch.shared_bytes, second.launch.shared_bytes) == (0, 65536)
    assert second.launch.types == ("pointer", "pointer", "float32")
    assert second.arguments == (DeviceBuffer(0, False, (10,)), DeviceBuffer(0, True, (10,)), Scalar(2, "float32"))


def test_sizes_that_are_products_and_dimensions():
    body = (
        ONE
        + """
      %zero = arith.constant 0 : index
      %d = memref.dim %A, %zero : memref<?xf32>
      %grid = arith.muli %d, %n : index\n"""
        + LAUNCH
    )
    (launch,) = program(body).prepare([(3,), 5, None]).launches
    assert launch.launch.grid == (15, 1, 1)


def test_a_grid_that_is_too_long_names_kernel_axis_and_limit():
    with pytest.raises(BuildError) as caught:
        program(SYMBOLIC).prepare([(1,), 2**38 + 1, None])
    text = "f: kernel f_kernel needs 2,147,483,649 blocks along blockIdx.x, a grid has at most 2,147,483,647; fix:"
    assert str(caught.value).startswith(text)


def test_a_loop_between_kernels_is_refused():
    body = ONE + "scf.for %i = %one to %n step %one { %grid = arith.constant 1 : index\n" + LAUNCH + "}"
    with pytest.raises(BuildError, match=r"f: scf\.for cannot run between kernels; fix: bind its loop"):
        program(body)


@pytest.mark.parametrize(("dtype", "value", "bits"), [
    ("float32", 1.0, 0x3F800000), ("int32", -1, 0xFFFFFFFF), ("int8", -2, 0xFE), ("bool", True, 1),
    ("float64", -0.0, 1 << 63), ("int64", -1, 2**64 - 1), ("uint64", 2**64 - 1, 2**64 - 1),
])  # fmt: skip
def test_numbers_are_passed_as_their_bits(dtype, value, bits):
    assert bits_of(dtype, value) == bits


def test_a_grid_has_the_limits_of_the_lowering():
    assert kernel_memory.GRID == GRID_LIMITS

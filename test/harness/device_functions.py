"""A function whose kernel does nothing: what calls of kernels need, without a build."""

from __future__ import annotations

from typing import Any

import numpy as np
from harness.device_arrays import DeviceArray
from mlir import ir

from tir_mlir.dialect.ir import enter_context
from tir_mlir.runtime.call.signature import signatures
from tir_mlir.runtime.drivers.device_driver import KernelCode
from tir_mlir.runtime.gpu.function import functions
from tir_mlir.runtime.gpu.host_program import HostProgram

SCALE = """
func.func @scale(%A: memref<{n}xf32> {{tir.name = "A"}}, %B: memref<{n}xf32> {{tir.name = "B"}},
                 %x: f32 {{tir.name = "x"}}) {{
  %one = arith.constant 1 : index
  %threads = arith.constant 32 : index
  %zero = arith.constant 0 : index
  {memory}
  %n = memref.dim %A, %zero : memref<{n}xf32>
  %grid = affine.apply affine_map<()[s0] -> (s0 ceildiv 32)>()[%n]
  {launches}
  return
}}"""
LAUNCH = """
  gpu.launch_func @scale_kernels::@scale_kernel blocks in (%grid, %one, %one) threads in (%threads, %one, %one)
    args(%A : memref<{n}xf32>, %B : memref<{n}xf32>, {third}, %x : f32, %n : index)"""
CALLED = """
func.func @scale(%A: memref<{n}xf32> {{tir.name = "A"}}, %B: memref<{n}xf32> {{tir.name = "B"}},
                 %x: f32 {{tir.name = "x"}}) {{
  %zero = arith.constant 0 : index
  memref.store %x, %B[%zero] : memref<{n}xf32>
  return
}}"""


def function(n: str, memory: bool = True, launches: int = 1, align: int = 4) -> Any:
    """A function that starts a kernel of five arguments: A, B, memory of the function (or A), x and n."""
    third = "%T : memref<4xf32>" if memory else f"%A : memref<{n}xf32>"
    types = f"memref<{n}xf32>, memref<{n}xf32>, {third.partition(' : ')[2]}, f32, index".split(", ")
    facts = [f" {{llvm.align = {align} : i64}}", "", "", "", ""]
    arguments = ", ".join(f"%a{number}: {type_}{facts[number]}" for number, type_ in enumerate(types))
    kernels = f"gpu.module @scale_kernels {{ gpu.func @scale_kernel({arguments}) kernel {{ gpu.return }} }}"
    allocation = "%T = memref.alloc() : memref<4xf32>" if memory else ""
    func = SCALE.format(n=n, memory=allocation, launches=LAUNCH.format(n=n, third=third) * launches)
    with enter_context():
        host = ir.Module.parse(f"module attributes {{gpu.container_module}} {{ {func} {kernels} }}")
        (signature,) = signatures(ir.Module.parse(CALLED.format(n=n))).values()
        programs = {"scale": HostProgram(host.body.operations[0].operation)}
    return functions([signature], programs, KernelCode("", "sm_80"))["scale"]


def pair(driver: Any, n: int = 100, **options: Any) -> list[DeviceArray]:
    return [DeviceArray(driver, np.arange(n, dtype=np.float32), **options) for _ in range(2)]

"""A product of TileLang, compiled to PTX without a GPU by NVRTC. Needs TileLang and NVIDIA's wheels.

python -m programs.tilelang_kernels SIZE DEPTH ARCH: prints the PTX.
"""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from pathlib import Path

import nvidia
import tilelang
import tilelang.language as T
from tilelang import tvm

# what the templates of TileLang take from the C++ library of a host, which NVRTC has not, and a type of the driver
PREFIX = """
#include <cuda/std/type_traits>
#include <cuda/std/utility>
namespace std {
using cuda::std::remove_extent_t; using cuda::std::extent_v; using cuda::std::is_same; using cuda::std::is_same_v;
using cuda::std::is_pointer_v; using cuda::std::is_void_v; using cuda::std::conditional_t;
using cuda::std::index_sequence; using cuda::std::make_index_sequence;
}
struct alignas(64) CUtensorMap { unsigned long long opaque[16]; };
"""


def product(n: int, depth: int):
    """C = A B of n x n halves, 128 x 128 elements a block, `depth` terms at a time in three stages."""
    steps = n // depth

    @T.prim_func
    def main(A: T.Tensor((n, n), "float16"), B: T.Tensor((n, n), "float16"), C: T.Tensor((n, n), "float32")):
        with T.Kernel(n // 128, n // 128, threads=128) as (bx, by):
            left = T.alloc_shared((128, depth), "float16")
            right = T.alloc_shared((depth, 128), "float16")
            sums = T.alloc_fragment((128, 128), "float32")
            T.clear(sums)
            for k in T.Pipelined(steps, num_stages=3):
                T.copy(A[by * 128, k * depth], left)
                T.copy(B[k * depth, bx * 128], right)
                T.gemm(left, right, sums)
            T.copy(sums, C[by * 128, bx * 128])

    return main


def compile_product(n: int, depth: int, arch: str) -> str:
    """The PTX of a product for a chip such as "sm_80"."""
    target = tvm.target.Target({"kind": "cuda", "arch": arch})
    with target:
        source = tilelang.lower(product(n, depth), target=target).kernel_source
    return to_ptx(PREFIX + source, arch)


def include_folders() -> list[Path]:
    """The headers of TileLang, of its CUTLASS, of the CUDA runtime, and of its C++ library."""
    here = Path(tilelang.__file__).parent
    cuda = next(Path(p, "cu13", "include") for p in nvidia.__path__ if Path(p, "cu13", "include", "cccl").is_dir())
    return [here / "src", here / "3rdparty" / "cutlass" / "include", cuda, cuda / "cccl"]


@cache
def nvrtc() -> ctypes.CDLL:
    """NVIDIA's compiler library. It opens a second library by its name, which is found if it is loaded before."""
    folders = [Path(p, "cu13", "lib") for p in nvidia.__path__]
    names = ("libnvrtc-builtins.so.*", "libnvrtc.so.*")
    _, compiler = (ctypes.CDLL(str(path)) for name in names for f in folders for path in f.glob(name))
    return compiler


def to_ptx(source: str, arch: str) -> str:
    """CUDA C to PTX. Raises ValueError with the compiler's errors."""
    lib, program = nvrtc(), ctypes.c_void_p()
    options = [f"--gpu-architecture={arch.replace('sm', 'compute')}", "-std=c++17", "-default-device", "-DNDEBUG"]
    options += [f"-I{folder}" for folder in include_folders()]
    lib.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"kernel.cu", 0, None, None)
    array = (ctypes.c_char_p * len(options))(*[option.encode() for option in options])
    failed = lib.nvrtcCompileProgram(program, len(options), array)
    size = ctypes.c_size_t()
    kind = "ProgramLog" if failed else "PTX"
    getattr(lib, f"nvrtcGet{kind}Size")(program, ctypes.byref(size))
    text = ctypes.create_string_buffer(size.value)
    getattr(lib, f"nvrtcGet{kind}")(program, text)
    if failed:
        raise ValueError("\n".join(line for line in text.value.decode().splitlines() if "error" in line))
    return text.value.decode()


if __name__ == "__main__":
    print(compile_product(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]))

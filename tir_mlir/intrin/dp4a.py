"""Intrinsics of `dp4a`, registered on demand: four products of bytes, which are added to an integer.

    dp4a_s8s8s32    C[0] = C[0] + A[k] * B[k] for k in range(4)    also s8u8s32, u8s8s32 and u8u8u32

A and B are 4 adjacent bytes in shared memory that start at a multiple of 4, C is a number of a thread. The
implementation is the same loop: builds for NVIDIA's GPUs from sm_61 on make one instruction of it, others of what they
have. Exact for all numbers.
"""

from __future__ import annotations

from tir_mlir.dialect.computation import TensorIntrin

GROUP = 4
_TYPES = {"s8s8s32": ("int8", "int8", "int32"), "s8u8s32": ("int8", "uint8", "int32"),
          "u8s8s32": ("uint8", "int8", "int32"), "u8u8u32": ("uint8", "uint8", "uint32")}  # fmt: skip
NAMES = tuple(f"dp4a_{types}" for types in _TYPES)

_TEXT = """
@T.prim_func
def {name}(a: T.handle, b: T.handle, c: T.handle):
    A = T.match_buffer(a, (4,), "{left}", align=4, offset_factor=4, scope="shared")
    B = T.match_buffer(b, (4,), "{right}", align=4, offset_factor=4, scope="shared")
    C = T.match_buffer(c, (1,), "{sums}", align=4, offset_factor=1, scope="local")
    with T.block("root"):
        T.reads(C[0], A[0:4], B[0:4])
        T.writes(C[0])
        for k in range(4):
            with T.block("update"):
                vk = T.axis.reduce(4, k)
                C[0] = C[0] + T.Cast("{sums}", A[vk]) * T.Cast("{sums}", B[vk])
"""


def register(name: str) -> None:
    """Register the intrinsic of this name, if there is one."""
    from tir_mlir.script.parser import parse

    if name in NAMES:
        left, right, sums = _TYPES[name.removeprefix("dp4a_")]
        text = "".join(_TEXT.format(name=part, left=left, right=right, sums=sums) for part in ("desc", "impl"))
        both = parse(text)
        TensorIntrin.register(name, both["desc"], both["impl"])

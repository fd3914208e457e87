"""Intrinsics of Intel AMX, registered on demand: products of 16 x 16 tiles.

    amx_tilezero_T          C[i, j] = 0                                             T: int32, float32
    amx_tileload_T          C[i, k] = A[i, k]           rows of A of 64 bytes       T: int8, uint8, bfloat16, float16
    amx_tileload_T_vnni     C[k, j, t] = A[k, j, t]     rows of A of 16 groups
    amx_tilestore_T         A[i, j] = C[i, j]                                       T: int32, float32
    amx_tdpbssd             C[i, j] += A[i, k * 4 + t] * B[k, j, t]                 int8 by int8, in int32
    amx_tdpbsud, amx_tdpbusd, amx_tdpbuud                                           the other signs of A and B
    amx_tdpbf16ps           C[i, j] += A[i, k * 2 + t] * B[k, j, t]                 bfloat16, in float32
    amx_tdpfp16ps                                                                   float16, in float32

C of the first three and of the products, and A and B of the products, are in scope `amx.tile`. Products of integers
are exact, modulo 2^32. `tdpbf16ps` treats denormal operands as zero, flushes denormal sums to zero and rounds each sum
to the nearest even; the descriptions, and so `verify` and the interpreter, do not flush.
"""

from __future__ import annotations

from dataclasses import dataclass

from tir_mlir.dialect.computation import TensorIntrin
from tir_mlir.runtime.kernels import amx

SCOPE = "amx.tile"
SIDE = 16
"""Rows of a tile, columns of a tile of sums."""


@dataclass(frozen=True)
class TileDot:
    """A product of tiles: `group` adjacent elements of `left` and `right` are multiplied and added to `sums`."""

    instruction: str
    left: str
    right: str
    sums: str
    group: int
    needs: str

    @property
    def name(self) -> str:
        """Name of the intrinsic and of its kernel."""
        return f"amx_{self.instruction}"

    @property
    def depth(self) -> int:
        """Terms of a sum of one instruction."""
        return SIDE * self.group


DOTS = tuple(
    [TileDot(f"tdpb{a[:1]}{b[:1]}d", f"{a[1:]}int8", f"{b[1:]}int8", "int32", 4, "amx-int8")
     for a in ("s", "uu") for b in ("s", "uu")]
    + [TileDot("tdpbf16ps", "bfloat16", "bfloat16", "float32", 2, "amx-bf16"),
       TileDot("tdpfp16ps", "float16", "float16", "float32", 2, "amx-fp16")]
)  # fmt: skip
_SIZES = {"int8": 1, "uint8": 1, "bfloat16": 2, "float16": 2}

_ZERO = """
@T.prim_func
def desc(c: T.handle):
    C = T.match_buffer(c, (16, 16), "{dtype}", scope="amx.tile")
    with T.block("root"):
        for i, j in T.grid(16, 16):
            with T.block("zero"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = T.{dtype}(0)


@T.prim_func
def impl(c: T.handle):
    C = T.match_buffer(c, (16, 16), "{dtype}", strides=[16, 1], scope="amx.tile")
    with T.block("root"):
        T.reads()
        T.writes(C[0:16, 0:16])
        T.call_extern("int32", "{name}", C.access_ptr("w"))
"""
_COPY = """
@T.prim_func
def desc(a: T.handle, c: T.handle):
    A = T.match_buffer(a, ({shape}), "{dtype}", scope="{source}")
    C = T.match_buffer(c, ({shape}), "{dtype}", scope="{target}")
    with T.block("root"):
        for {loops} in T.grid({shape}):
            with T.block("copy"):
                {iters} = T.axis.remap("{kinds}", [{loops}])
                C[{iters}] = A[{iters}]


@T.prim_func
def impl(a: T.handle, c: T.handle):
    s = T.int32()
    A = T.match_buffer(a, ({shape}), "{dtype}", strides=[{read}], scope="{source}")
    C = T.match_buffer(c, ({shape}), "{dtype}", strides=[{write}], scope="{target}")
    with T.block("root"):
        T.reads(A[{whole}])
        T.writes(C[{whole}])
        T.call_extern("int32", "{name}", C.access_ptr("w"), A.access_ptr("r"), s)
"""
_DOT = """
@T.prim_func
def desc(a: T.handle, b: T.handle, c: T.handle):
    A = T.match_buffer(a, (16, {depth}), "{left}", scope="amx.tile")
    B = T.match_buffer(b, (16, 16, {group}), "{right}", scope="amx.tile")
    C = T.match_buffer(c, (16, 16), "{sums}", scope="amx.tile")
    with T.block("root"):
        for i, j, k, t in T.grid(16, 16, 16, {group}):
            with T.block("update"):
                vi, vj, vk, vt = T.axis.remap("SSRR", [i, j, k, t])
                C[vi, vj] = C[vi, vj] + T.Cast("{sums}", A[vi, vk * {group} + vt]) * T.Cast("{sums}", B[vk, vj, vt])


@T.prim_func
def impl(a: T.handle, b: T.handle, c: T.handle):
    A = T.match_buffer(a, (16, {depth}), "{left}", strides=[{depth}, 1], scope="amx.tile")
    B = T.match_buffer(b, (16, 16, {group}), "{right}", strides=[{depth}, {group}, 1], scope="amx.tile")
    C = T.match_buffer(c, (16, 16), "{sums}", strides=[16, 1], scope="amx.tile")
    with T.block("root"):
        T.reads(C[0:16, 0:16], A[0:16, 0:{depth}], B[0:16, 0:16, 0:{group}])
        T.writes(C[0:16, 0:16])
        T.call_extern("int32", "{name}", C.access_ptr("rw"), A.access_ptr("r"), B.access_ptr("r"))
"""


def tile_dot(left: str, right: str, sums: str) -> TileDot | None:
    """The product of tiles of these types, if there is one."""
    return next((d for d in DOTS if (d.left, d.right, d.sums) == (left, right, sums)), None)


def register(name: str) -> None:
    """Register the intrinsic of this name, and its kernel, if there is one."""
    word, _, dtype = name.removeprefix("amx_").partition("_")
    dtype, grouped = dtype.removesuffix("_vnni"), dtype.endswith("_vnni")
    if (dot := next((d for d in DOTS if d.name == name), None)) is not None:
        amx.add_kernel(name, amx.dot, dot.instruction, dot.needs)
        facts = {k: getattr(dot, k) for k in ("left", "right", "sums", "group", "depth", "name")}
        _register(name, _DOT.format(**facts))
    elif word == "tilezero" and dtype in ("int32", "float32"):
        amx.add_kernel(name, amx.zero, None)
        _register(name, _ZERO.format(name=name, dtype=dtype))
    elif word == "tileload" and dtype in _SIZES:
        amx.add_kernel(name, amx.load, _SIZES[dtype])
        _register(name, _copy(name, dtype, 4 // _SIZES[dtype] if grouped else 0, "global", SCOPE))
    elif word == "tilestore" and dtype in ("int32", "float32"):
        amx.add_kernel(name, amx.store, 4)
        _register(name, _copy(name, dtype, 0, SCOPE, "global"))


def _copy(name: str, dtype: str, group: int, source: str, target: str) -> str:
    """The text of a load (from memory) or a store: of rows, or of rows of groups."""
    row = amx.ROW_BYTES // _SIZES.get(dtype, 4)
    shape = [SIDE, SIDE, group] if group else [SIDE, row]
    tile = f"{row}, {group}, 1" if group else f"{row}, 1"
    apart = f"s, {group}, 1" if group else "s, 1"
    read, write = (apart, tile) if target == SCOPE else (tile, apart)
    facts = {"shape": ", ".join(map(str, shape)), "loops": ", ".join("ijk"[: len(shape)]), "kinds": "S" * len(shape)}
    facts |= {"iters": ", ".join(f"v{x}" for x in "ijk"[: len(shape)]), "whole": ", ".join(f"0:{n}" for n in shape)}
    return _COPY.format(**facts, read=read, write=write, source=source, target=target, name=name, dtype=dtype)


def _register(name: str, text: str) -> None:
    from tir_mlir.script.parser import parse

    both = parse(text)
    TensorIntrin.register(name, both["desc"], both["impl"])

"""Outer product intrinsics, created and registered by `outer_product`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from tir_mlir.dialect.computation import TensorIntrin
from tir_mlir.dialect.diagnostics import short_repr

_OUTER = """
@T.prim_func
def desc(a: T.handle, b: T.handle, c: T.handle):
    A = T.match_buffer(a, ({m}, {k}), "{dtype}", scope="{scope_a}")
    B = T.match_buffer(b, ({n}, {k}), "{dtype}", scope="{scope_b}")
    C = T.match_buffer(c, ({m}, {n}), "{dtype}", scope="{scope_c}")
    with T.block("root"):
        for i, j, k in T.grid({m}, {n}, {k}):
            with T.block("update"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vj, vk]
"""

_PACKED = """
@T.prim_func
def desc(a: T.handle, b: T.handle, c: T.handle):
    A = T.match_buffer(a, ({k}, {m}), "{dtype}", scope="{scope_a}")
    B = T.match_buffer(b, ({k}, {n}), "{dtype}", scope="{scope_b}")
    C = T.match_buffer(c, ({m}, {n}), "{dtype}", scope="{scope_c}")
    with T.block("root"):
        for i, j, k in T.grid({m}, {n}, {k}):
            with T.block("update"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                C[vi, vj] = C[vi, vj] + A[vk, vi] * B[vk, vj]
"""

_OUTER_CALL = """
@T.prim_func
def impl(a: T.handle, b: T.handle, c: T.handle):
    sa = T.int32()
    sb = T.int32()
    sc = T.int32()
    A = T.match_buffer(a, ({m}, {k}), "{dtype}", strides=[sa, 1], scope="{scope_a}")
    B = T.match_buffer(b, ({n}, {k}), "{dtype}", strides=[sb, 1], scope="{scope_b}")
    C = T.match_buffer(c, ({m}, {n}), "{dtype}", strides=[sc, 1], scope="{scope_c}")
    with T.block("root"):
        T.reads(C[0:{m}, 0:{n}], A[0:{m}, 0:{k}], B[0:{n}, 0:{k}])
        T.writes(C[0:{m}, 0:{n}])
        T.call_extern("int32", "{symbol}", C.access_ptr("rw"), A.access_ptr("r"), B.access_ptr("r"), sa, sb, sc)
"""


def outer_product(
    m: int, n: int, k: int, scopes: tuple[str, str, str] = ("global", "global", "global"), name: str | None = None
) -> str:
    """Register `C[m, n] += A[m, k] * B[n, k]^T` in float32 with the built-in vector kernel. Returns its name.

    `scopes`: storage scopes of A, B and C. `name`: default `outer_product_MxNxK` followed by the non-global scopes. n
    and k are multiples of 4. Registering the same product again is a no-op.
    """
    facts = _facts("outer_product", m, n, k, scopes)
    if n % 4 or k % 4:
        raise ValueError(f"outer_product: m = {m}, n = {n}, k = {k}; they must be positive, n and k multiples of 4")
    symbol = f"outer_product_{m}x{n}x{k}"
    facts["symbol"] = symbol
    name = name or symbol + _special(scopes)
    _register_kernel(symbol, m, n, k)
    _register(name, _OUTER.format(**facts), _OUTER_CALL.format(**facts))
    return name


def sme_outer_product(
    m: int = 16,
    n: int = 16,
    k: int = 16,
    packed: bool = False,
    scopes: tuple[str, str, str] = ("global", "global", "global"),
    name: str | None = None,
) -> str:
    """Register `C[m, n] += A[m, k] * B[n, k]^T` in float32 with a kernel for ARM's SME (`fmopa`). Returns its name.

    packed: `C[m, n] += A[k, m]^T * B[k, n]`: the columns of A and B are adjacent, and ZA need not transpose them.
    Sizes are any positive numbers: the kernel asks the CPU for the length of its vectors, and a tile that is larger
    than ZA is computed in parts. Each call enters and leaves streaming mode: choose a large k. `scopes`, `name`: as for
    `outer_product`.
    """
    facts = _facts("sme_outer_product", m, n, k, scopes)
    symbol = f"sme_outer_product_{m}x{n}x{k}{'_packed' if packed else ''}"
    facts["symbol"] = symbol
    _register_sme_kernel(symbol, m, n, k, packed)
    call = _OUTER_CALL
    if packed:
        for operand, rows in (("A", "m"), ("B", "n")):
            call = call.replace(f"({{{rows}}}, {{k}})", f"({{k}}, {{{rows}}})")
            call = call.replace(f"{operand}[0:{{{rows}}}, 0:{{k}}]", f"{operand}[0:{{k}}, 0:{{{rows}}}]")
    name = name or symbol + _special(scopes)
    _register(name, (_PACKED if packed else _OUTER).format(**facts), call.format(**facts))
    return name


_NAME = re.compile(r"(sme_)?outer_product_([1-9]\d*)x([1-9]\d*)x([1-9]\d*)(_packed)?")


def register(name: str) -> None:
    """Register the intrinsic of this name, and its kernel, on buffers of global memory, if there is one."""
    match = _NAME.fullmatch(name)
    if match is None:
        return
    m, n, k = map(int, match.group(2, 3, 4))
    if match[1]:
        sme_outer_product(m, n, k, packed=bool(match[5]))
    elif not match[5] and all(int(match[n]) % 4 == 0 for n in (3, 4)):
        outer_product(m, n, k)


def _facts(function: str, m: int, n: int, k: int, scopes: Sequence[str]) -> dict[str, Any]:
    """The checked arguments, for the texts of a description and an implementation."""
    if odd := [v for v in (m, n, k) if isinstance(v, bool) or not isinstance(v, int)]:
        raise ValueError(f"{function}: m, n and k must be integers, not {short_repr(odd[0])}")
    if not isinstance(scopes, (tuple, list)) or len(scopes) != 3 or not all(isinstance(s, str) for s in scopes):
        raise ValueError(f"{function}: scopes must be the three scopes of A, B and C, not {short_repr(scopes)}")
    if min(m, n, k) < 1:
        raise ValueError(f"{function}: m = {m}, n = {n}, k = {k}; they must be positive")
    scoped = dict(zip(("scope_a", "scope_b", "scope_c"), scopes, strict=True))
    return {"m": m, "n": n, "k": k, "dtype": "float32", **scoped}


def _special(scopes: Sequence[str]) -> str:
    """The scopes other than global, as a part of a name."""
    return "".join(f"_{p}_{s.replace('.', '_')}" for p, s in zip("abc", scopes, strict=True) if s != "global")


def _register_sme_kernel(symbol: str, m: int, n: int, k: int, packed: bool) -> None:
    from tir_mlir.runtime.kernels.registry import emit, known_kernels, register_kernel
    from tir_mlir.runtime.kernels.sme_outer_product import sme_outer_product as kernel

    if symbol not in known_kernels():
        register_kernel(symbol, lambda: emit(kernel(symbol, m, n, k, packed)), needs=("sme",))


def _register_kernel(symbol: str, m: int, n: int, k: int) -> None:
    from tir_mlir.runtime.kernels.outer_product import outer_product as kernel
    from tir_mlir.runtime.kernels.registry import emit, known_kernels, register_kernel
    from tir_mlir.target.host import host

    if symbol not in known_kernels():
        register_kernel(symbol, lambda: emit(kernel(symbol, m, n, k, host())))


def _register(name: str, desc: str, impl: str) -> None:
    from tir_mlir.script.parser import parse

    TensorIntrin.register(name, parse(desc)["desc"], parse(impl)["impl"])

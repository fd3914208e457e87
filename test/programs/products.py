"""Matrix products for tests of `tir_mlir.schedules`."""

from __future__ import annotations

from programs.parsed import parse

INDEX = {(False, False): "vi, vk] * B[vk, vj", (False, True): "vi, vk] * B[vj, vk", (True, False): "vk, vi] * B[vk, vj"}
INDEX[True, True] = "vk, vi] * B[vj, vk"


def product(m, n, k, dtype: str = "float32", left_turned: bool = False, right_turned: bool = False):
    """C = op(A) op(B); extents are numbers or names of symbolic sizes."""
    left = f"({k}, {m})" if left_turned else f"({m}, {k})"
    right = f"({n}, {k})" if right_turned else f"({k}, {n})"
    names = [x for x in dict.fromkeys((m, n, k)) if isinstance(x, str)]
    sizes = "".join(f"    {x} = T.int32()\n" for x in names)
    return parse(
        f"""
@T.prim_func
def main(a: T.handle, b: T.handle, c: T.handle):
{sizes}    A = T.match_buffer(a, {left}, "{dtype}")
    B = T.match_buffer(b, {right}, "{dtype}")
    C = T.match_buffer(c, ({m}, {n}), "{dtype}")
    for i, j, k_ in T.grid({m}, {n}, {k}):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k_])
            with T.init():
                C[vi, vj] = T.{dtype}(0)
            C[vi, vj] = C[vi, vj] + A[{INDEX[left_turned, right_turned]}]
"""
    )


def batched(b: int, m: int, n: int, k: int):
    return parse(
        f"""
@T.prim_func
def main(a: T.handle, b: T.handle, c: T.handle):
    A = T.match_buffer(a, ({b}, {m}, {k}), "float32")
    B = T.match_buffer(b, ({b}, {k}, {n}), "float32")
    C = T.match_buffer(c, ({b}, {m}, {n}), "float32")
    for h, i, j, k_ in T.grid({b}, {m}, {n}, {k}):
        with T.block("C"):
            vh, vi, vj, vk = T.axis.remap("SSSR", [h, i, j, k_])
            with T.init():
                C[vh, vi, vj] = T.float32(0)
            C[vh, vi, vj] = C[vh, vi, vj] + A[vh, vi, vk] * B[vh, vk, vj]
"""
    )


def matrix_vector(n, k, dtype: str = "float32", turned: bool = False):
    """C = A x or A.T x; extents are numbers or names of symbolic sizes."""
    names = [x for x in dict.fromkeys((n, k)) if isinstance(x, str)]
    sizes = "".join(f"    {x} = T.int32()\n" for x in names)
    return parse(
        f"""
@T.prim_func
def main(a: T.handle, x: T.handle, c: T.handle):
{sizes}    A = T.match_buffer(a, {f"({k}, {n})" if turned else f"({n}, {k})"}, "{dtype}")
    X = T.match_buffer(x, ({k},), "{dtype}")
    C = T.match_buffer(c, ({n},), "{dtype}")
    for i, k_ in T.grid({n}, {k}):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k_])
            with T.init():
                C[vi] = T.{dtype}(0)
            C[vi] = C[vi] + A[{"vk, vi" if turned else "vi, vk"}] * X[vk]
"""
    )


def widened(
    m, n, k, dtype: str = "int8", sums: str = "int32", left_turned=False, right_turned=False, batch=None, promise=""
):
    """C = op(A) op(B), with each element cast to the wider accumulator type before the product."""
    left = f"({k}, {m})" if left_turned else f"({m}, {k})"
    right = f"({n}, {k})" if right_turned else f"({k}, {n})"
    names = [x for x in dict.fromkeys((m, n, k)) if isinstance(x, str)]
    sizes = "".join(f"    {x} = T.int32()\n" for x in names)
    at_a, at_b = INDEX[left_turned, right_turned].split("] * B[")
    head, kinds, loops, iters, grid = "", "SSR", "i, j, k_", "vi, vj, vk", f"{m}, {n}, {k}"
    if batch:
        left, right = f"({batch}, {left[1:]}", f"({batch}, {right[1:]}"
        head, kinds, loops, iters, grid = "vh, ", "SSSR", "h, i, j, k_", "vh, vi, vj, vk", f"{batch}, {grid}"
    shape = f"({batch}, {m}, {n})" if batch else f"({m}, {n})"
    return parse(
        f"""
@T.prim_func
def main(a: T.handle, b: T.handle, c: T.handle):
{sizes}    A = T.match_buffer(a, {left}, "{dtype}")
    B = T.match_buffer(b, {right}, "{dtype}")
    C = T.match_buffer(c, {shape}, "{sums}")
    {promise}
    for {loops} in T.grid({grid}):
        with T.block("C"):
            {iters} = T.axis.remap("{kinds}", [{loops}])
            with T.init():
                C[{head}vi, vj] = T.{sums}(0)
            C[{head}vi, vj] = C[{head}vi, vj] + T.Cast("{sums}", A[{head}{at_a}]) * T.Cast("{sums}", B[{head}{at_b}])
"""
    )


def summed_product(m: int, n: int, k: int, dtype: str = "float32", out: str = ""):
    """C = A B, with each element cast to `out`, if given, before the product."""
    return widened(m, n, k, dtype, out) if out not in ("", dtype) else product(m, n, k, dtype)

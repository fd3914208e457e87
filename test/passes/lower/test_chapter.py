"""The chapter's program taken down and run: sizes that divide and sizes that do not, before and after tensorize."""

import numpy as np
import pytest
from harness.lowered import passed, run
from programs.chapter import TMM16, chapter

RNG = np.random.default_rng(0)


def block(name: str, iters: str, bindings: list[str], extents: list[int], body: str) -> str:
    names = [f"v{i}" for i in range(len(bindings))]
    arguments = ", ".join(f"%{n}" for n in names)
    ends = ", ".join(f"{b} + 1" for b in bindings)
    kinds, quoted = ", ".join(f'"{k}"' for k in iters), ", ".join(f'"{n}"' for n in names)
    zeros = ", ".join("0" for _ in names)
    return (
        f"affine.parallel ({arguments}) = ({', '.join(bindings)}) to ({ends}) {{\n{body}\n}} "
        f'{{tir.block = "{name}", tir.iters = [{kinds}], tir.names = [{quoted}], '
        f"tir.min = affine_map<() -> ({zeros})>, "
        f"tir.extent = affine_map<() -> ({', '.join(map(str, extents))})>, tir.syms = []}}"
    )


def tiled(n: int, kind: str = "") -> str:
    """Matmul in 16 x 16 x 16 tiles with A and C cached; guards where 16 does not divide n."""
    tiles = -(-n // 16)
    mem = f"memref<{n}x{n}xf32>"
    reg, acc = f'memref<{n}x{n}xf32, "global.A_reg">', f'memref<{n}x{n}xf32, "global.acc">'

    def guarded(conditions: list[str], inner: str) -> str:
        values = ", ".join(f"%{v}" for c in conditions for v in c.split(","))
        dims = ", ".join(f"d{i}" for i in range(2 * len(conditions)))
        tests = ", ".join(f"-d{2 * i} * 16 - d{2 * i + 1} + {n - 1} >= 0" for i in range(len(conditions)))
        return f"affine.if affine_set<({dims}) : ({tests})>({values}) {{\n{inner}\n}} {{tir.where}}"

    update = f"""
      affine.if affine_set<(d0) : (d0 == 0)>(%v2) {{
        %zero = arith.constant 0.0 : f32
        affine.store %zero, %acc[%v0, %v1] : {acc}
      }} {{tir.init}}
      %c = affine.load %acc[%v0, %v1] : {acc}
      %a = affine.load %reg[%v0, %v2] : {reg}
      %b = affine.load %B[%v1, %v2] : {mem}
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %c, %p : f32
      affine.store %s, %acc[%v0, %v1] : {acc}"""
    matmul = block("C", "SSR", ["%i0 * 16 + %i1", "%j0 * 16 + %j1", "%k0 * 16 + %k1"], [n] * 3, update)
    copy = f"%x = affine.load %A[%v0, %v1] : {mem}\naffine.store %x, %reg[%v0, %v1] : {reg}"
    fetch = block("A_reg", "SS", ["%i0 * 16 + %x0", "%k0 * 16 + %x1"], [n] * 2, copy)
    copy = f"%x = affine.load %acc[%v0, %v1] : {acc}\naffine.store %x, %C[%v0, %v1] : {mem}"
    store = block("C_out", "SS", ["%i0 * 16 + %x0", "%j0 * 16 + %x1"], [n] * 2, copy)
    return f"""
func.func @main(%A: {mem}, %B: {mem}, %C: {mem}) attributes {{tir.id = 0 : i64}} {{
  %reg = memref.alloc() {{tir.name = "A_reg"}} : {reg}
  %acc = memref.alloc() {{tir.name = "acc"}} : {acc}
  affine.for %i0 = 0 to {tiles} {{ affine.for %j0 = 0 to {tiles} {{
    affine.for %k0 = 0 to {tiles} {{
      affine.for %x0 = 0 to 16 {{ affine.for %x1 = 0 to 16 {{ {guarded(["i0,x0", "k0,x1"], fetch)} }} }}
      affine.for %i1 = 0 to 16 {{ affine.for %j1 = 0 to 16 {{ affine.for %k1 = 0 to 16 {{
        {guarded(["i0,i1", "j0,j1", "k0,k1"], matmul)} }} }} }}
    }}
    affine.for %x0 = 0 to 16 {{ affine.for %x1 = 0 to 16 {{ {guarded(["i0,x0", "j0,x1"], store)} }} }}
  }} }} {kind}
  return
}}"""


def matrices(n: int) -> list[np.ndarray]:
    a, b = (RNG.random((n, n), dtype=np.float32) for _ in range(2))
    return [a, b, np.full((n, n), np.nan, dtype=np.float32)]


@pytest.mark.parametrize("n", [16, 48, 64])
def test_tensorized(n):
    a, b, c = matrices(n)
    run(chapter(n), a, b, c, kernel=TMM16)
    np.testing.assert_allclose(c, a @ b.T, rtol=1e-5)


@pytest.mark.parametrize("n", [5, 16, 32, 50])
def test_tiles_with_guards(n):
    a, b, c = matrices(n)
    run(tiled(n), a, b, c)
    np.testing.assert_allclose(c, a @ b.T, rtol=1e-5)


@pytest.mark.parametrize("n", [32, 50])
def test_buffers_become_tiles(n):
    text = passed(tiled(n), "tir-lower-blocks", "tir-lower-conditions", "tir-lower-compact")
    assert 'memref<16x16xf32, "global.A_reg">' in text and 'memref<16x16xf32, "global.acc">' in text
    assert f'memref<{n}x{n}xf32, "' not in text and "tir.block" not in text


def test_guards_go_where_sizes_divide():
    text = passed(tiled(32), "tir-lower-blocks", "tir-lower-conditions")
    assert text.count("affine.if") == 1, "only the init is a question of the loops"
    assert "tir.where" not in text and "tir.init" not in text


def test_views_get_static_strides():
    text = passed(chapter(64), "tir-lower-blocks", "tir-lower-conditions", "tir-lower-compact")
    assert text.count("memref.subview") == 3
    assert text.count("[0, 0] [16, 16] [1, 1]") == 3
    assert text.count("to memref<16x16xf32, strided<[16, 1]>") == 3

"""Programs for tests of tensorize."""

from __future__ import annotations

import textwrap

from programs.parsed import parse

from tir_mlir import Schedule

SQUARE = ((64, 64), "float32")


def func(params: str, body: str, option: str = ""):
    text = f"@T.prim_func{option}\ndef main({params}):\n" + textwrap.indent(textwrap.dedent(body), "    ")
    return parse(text)


def buffers(**shapes: str) -> str:
    return ", ".join(f"{name}: T.Buffer({shape})" for name, shape in shapes.items())


def matmul(update: str = "C[vi, vj] + A[vi, vk] * B[vj, vk]", extents: str = "64, 64, 64", **shapes: str):
    """`C += A * B^T` by default, without an init."""
    shapes = {"A": '(64, 64), "float32"', "B": '(64, 64), "float32"', "C": '(64, 64), "float32"'} | shapes
    body = f"""
    for i, j, k in T.grid({extents}):
        with T.block("mm"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            C[vi, vj] = {update}
    """
    return func(buffers(**shapes), body)


def tiled(mod, order: str = "ijk", tile: int = 16):
    """Return the schedule with 16-tiles of the three inner loops, in some order, and the outermost loop of the tile."""
    sch = Schedule(mod)
    outer, inner = [], {}
    for letter, loop in zip("ijk", sch.get_loops("mm"), strict=True):
        first, second = sch.split(loop, factors=[None, tile])
        outer.append(first)
        inner[letter] = second
    sch.reorder(*outer, *(inner[x] for x in order))
    return sch, inner[order[0]]


# --- requirements of the implementation -------------------------------------------------------------------------------


def copy_intrinsic(intrinsic, impl_facts: str, shape: str = "(4, 16)"):
    """An intrinsic that copies a tile by a call, with facts about the implementation's parameters."""
    desc = func(
        buffers(A=f'{shape}, "float32"', B=f'{shape}, "float32"'), f"for i, j in T.grid{shape}:\n    B[i, j] = A[i, j]"
    )["main"]
    impl = parse(
        f"""
@T.prim_func
def main(a: T.handle, b: T.handle):
    s = T.int32()
    t = T.int32()
    A = T.match_buffer(a, {shape}, "float32", {impl_facts.replace("$", "s")})
    B = T.match_buffer(b, {shape}, "float32", {impl_facts.replace("$", "t")})
    with T.block("root"):
        T.reads(A[0:4, 0:16])
        T.writes(B[0:4, 0:16])
        T.evaluate(T.call_extern("int32", "copy_tile", A.access_ptr("r"), B.access_ptr("w")))
"""
    )["main"]
    return intrinsic("copy_tile", desc, impl)


def copy_program(shape: str = "(64, 64)", index: str = "vi, vj", extents: str = "64, 64"):
    return func(
        buffers(A=f'{shape}, "float32"', B=f'{shape}, "float32"'),
        f"""
        for i, j in T.grid({extents}):
            with T.block("copy"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[{index}] = A[{index}]
        """,
    )


def copy_tile(mod, extents: tuple[int, int] = (4, 16)):
    sch = Schedule(mod)
    tiles = [sch.split(x, factors=[None, f]) for x, f in zip(sch.get_loops("copy"), extents, strict=True)]
    sch.reorder(*(t[0] for t in tiles), *(t[1] for t in tiles))
    return sch, tiles[0][1]

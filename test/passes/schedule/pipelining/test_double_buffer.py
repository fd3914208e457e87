"""double_buffer: copies for later iterations beside the computation of this one."""

from __future__ import annotations

import pytest
from programs.parsed import parse
from programs.short import each, main, nest, program, sblock, under

from tir_mlir import Schedule


def row_sums(n: int, m: int, tile: int):
    """Sums of the rows of A, whose columns come in tiles through a copy."""
    copied = nest(
        f"i:{n} c:{tile}",
        sblock("P", f"vi:{n}=i vj:{m}=k * {tile} + c", "P[vi, vj] = A[vi, vj]", where=_inside(m, tile)),
    )
    added = nest(
        f"i:{n} c:{tile}",
        sblock("B", f"vi:{n}=i vk:{m}R=k * {tile} + c", "B[vi] = B[vi] + P[vi, vk]", where=_inside(m, tile)),
    )
    return program(
        f"A:{n}x{m} B:{n}; P:{n}x{m}", each(f"zero i:{n}", "B[vi] = 0.0"), nest(f"k:{-(-m // tile)}", copied, added)
    )


def _inside(m: int, tile: int) -> str:
    return f"k * {tile} + c < {m}" if m % tile else ""


@pytest.mark.parametrize("stages", [2, 3])
@pytest.mark.parametrize(("n", "m"), [(3, 15), (1, 16), (2, 17), (5, 127)])
def test_ragged_sizes(n, m, stages, same_result):
    sch = Schedule(row_sums(n, m, 4))
    loop = sch.get_loops("P")[0]
    sch.double_buffer("P", loop, stages)
    assert sch.verify()
    assert f"({stages}, {n}, 4)" in sch.mod.script()
    same_result(sch, row_sums(n, m, 4), ((n, m), "float32"), ((n,), "float32"))


def test_several_copies_in_three_stages(same_result):
    """Two copies at once; the loop is inside of another one, and the planes are used again by its next iteration."""
    copied = [nest("c:4", sblock(b, "vk:16=k * 4 + c", f"{b}[vk] = {a}[vk]")) for a, b in (("A", "P"), ("B", "Q"))]
    summed = nest("c:4", sblock("C", "vi:3=i vk:16R=k * 4 + c", "C[vi] = C[vi] + P[vk] * Q[vk]"))
    Dot = program("A:16 B:16 C:3; P:16 Q:16", each("zero i:3", "C[vi] = 0.0"), nest("i:3 k:4", *copied, summed))
    sch = Schedule(Dot)
    sch.double_buffer(["P", "Q"], sch.get_loops("P")[1], 3)
    assert sch.verify()
    same_result(sch, Dot, ((16,), "float32"), ((16,), "float32"), ((3,), "float32"))


COPY = nest("c:4", sblock("P", "vk:16=k * 4 + c", "P[vk] = A[vk]"))
SUM = nest("c:4", sblock("B", "vi:3=i vk:16R=k * 4 + c", "B[vi] = B[vi] + P[vk]"))
BOTH = nest(
    "c:4", sblock("P", "vk:16=k * 4 + c", "P[vk] = A[vk]"), sblock("Q", "vk:16=k * 4 + c", "Q[vk] = P[vk] + 1.0")
)


def writes(buffer: str, value: str) -> str:
    return nest("c:4", sblock("W", "vk:16=k * 4 + c", f"{buffer}[vk] = {value}"))


def in_loop(*body: str, k: str = "k:4", after: tuple[str, ...] = ()) -> str:
    """A program whose loop k has this body."""
    return main("A:16 B:3 D:16; P:16 Q:16", each("zero i:3", "B[vi] = 0.0"), nest(f"i:3 {k}", *body), *after)


REFUSED = {
    "a parallel loop": (in_loop(COPY, SUM, k="k:4:parallel"), "loop k is parallel; copies run ahead in a serial loop"),
    "the copy is last": (in_loop(COPY), "nothing in loop k follows the copies"),
    "something is before the copy": (
        in_loop(writes("D", "1.0"), COPY, SUM),
        "this is before the last copy in loop k; copies are first",
    ),
    "used after the loop": (in_loop(COPY, SUM, after=(each("D:16", "D[vi] = P[vi]"),)), "P is used outside of loop k"),
    "a value of the iteration before": (
        in_loop(COPY, SUM.replace("P[vk]", "P[vk % 4]")),
        "P is read and was not written in the same iteration of k",
    ),
    "a source that the loop writes": (
        in_loop(COPY, SUM, writes("A", "0.0")),
        "A, which the copy reads, is written in loop k",
    ),
    "a part that iterations share": (
        in_loop(COPY, SUM).replace("k * 4 + c", "k + c").replace("(16, k", "((0, 7), k"),
        "along dimension 0 of P, an iteration of k does not have a part of its own",
    ),
    "another block in its nest": (in_loop(BOTH, SUM), "the nest of block P in loop k has other blocks"),
    "parameters that may be the same memory": (
        in_loop(COPY, SUM).replace("\n    P =", '\n    T.func_attr({"tir.noalias": False})\n    P =', 1),
        "alias",
    ),
    "a value that is read outside of blocks": (
        in_loop(COPY, under("if A[k] > 0.0:", SUM)),
        "a value is read outside of blocks in loop k, which decides what runs",
    ),
    "two results": (
        in_loop(COPY.replace("= A[vk]", "= A[vk]\n        Q[vk] = A[vk]"), SUM),
        "block P stores 2 values; a copy stores one",
    ),
    "a parameter": (in_loop(COPY.replace("P[", "D["), SUM.replace("P[", "D[")), "D is a parameter; a copy writes"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_run_ahead_is_refused(name, refused):
    text, message = REFUSED[name]
    sch = Schedule(parse(text))
    refused(sch, message, lambda: sch.double_buffer("P", sch.get_loops("P")[1]))


def test_a_buffer_of_each_iteration_is_refused(refused):
    copied = nest("c:4", sblock("P", "vc:4=c", "R[vc] = A[vl * 4 + vc]"))
    summed = nest("c:4", sblock("B", "vi:3=vn vc:4R=c", "B[vi] = B[vi] + R[vc]"))
    sch = Schedule(
        parse(in_loop(sblock("O", "vl:4O=k vn:3O=i", 'R = T.alloc_buffer((4,), "float32")', copied, summed)))
    )
    refused(sch, "R is allocated in loop k", lambda: sch.double_buffer("P", sch.get_loops("O")[1]))


@pytest.mark.parametrize("stages", [2, 3])
def test_start_values_of_sums_run_ahead(stages, same_result):
    """Later nests of an iteration add to what the copy wrote."""
    text = in_loop(COPY, writes("P", "P[vk] + 1.0"), SUM)
    sch = Schedule(parse(text))
    sch.double_buffer("P", sch.get_loops("P")[1], stages)
    assert sch.verify()
    same_result(sch, parse(text), ((16,), "float32"), ((3,), "float32"), ((16,), "float32"))


def test_one_stage_makes_a_buffer_as_small_as_an_iteration_needs_it(same_result):
    """The copy may be anywhere in the loop, beside others."""
    text = in_loop(BOTH, SUM.replace("P[vk]", "Q[vk]"))
    sch = Schedule(parse(text))
    loop = sch.get_loops("P")[1]
    for name in ("P", "Q"):
        sch.double_buffer(name, loop, 1)
    assert sch.verify()
    assert "P = T.alloc_buffer((4,)" in sch.mod.script()
    same_result(sch, parse(text), ((16,), "float32"), ((3,), "float32"), ((16,), "float32"))


@pytest.mark.parametrize("stages", [1, 2, 3])
def test_what_each_iteration_writes_anew_gets_planes(stages, same_result):
    """No index has the loop in it: blocks without an iter for it get one."""
    copied = nest("c:4", sblock("P", "vl:4O=k vc:4=c", "P[vc] = A[vl * 4 + vc]"))
    summed = nest("c:4", sblock("B", "vi:3=i vc:4R=c", "B[vi] = B[vi] + P[vc]"))
    text = program("A:16 B:3; P:4", each("zero i:3", "B[vi] = 0.0"), nest("i:3 k:4", copied, summed))
    sch = Schedule(text)
    sch.double_buffer("P", sch.get_loops("P")[1], stages)
    assert sch.verify()
    assert ("P[vk % " in sch.mod.script()) == (stages > 1)
    same_result(sch, text, ((16,), "float32"), ((3,), "float32"))


def test_two_copies_of_one_buffer_are_refused(refused):
    sch = Schedule(parse(in_loop(COPY, writes("P", "2.0"), SUM)))
    loop = sch.get_loops("P")[1]
    refused(sch, "P is also written by another copy, P", lambda: sch.double_buffer(["P", "W"], loop))


def test_a_second_writer_in_another_block_is_refused(refused):
    inner = nest("c:4", sblock("W", "vk:16=vl * 4 + c", "P[vk] = P[vk] + 1.0"))
    sch = Schedule(parse(in_loop(COPY, sblock("O", "vl:4O=k", inner), SUM)))
    loop = sch.get_loops("P")[1]
    refused(sch, "block W, which also writes P, is in another block", lambda: sch.double_buffer("P", loop))


def test_wrong_arguments_are_refused(refused):
    sch = Schedule(parse(in_loop(COPY, SUM)))
    i, k, _ = sch.get_loops("P")
    refused(sch, "stages is at least 1, not 0", lambda: sch.double_buffer("P", k, 0))
    refused(sch, "copies are one or more blocks, each once", lambda: sch.double_buffer(["P", "P"], k))
    refused(sch, "copies are one or more blocks, each once", lambda: sch.double_buffer([], k))
    refused(sch, "block zero is not in loop k", lambda: sch.double_buffer("zero", k))
    refused(sch, "the nest of block P in loop i has other blocks", lambda: sch.double_buffer("P", i))
    once = sch.split(k, [1, None])[0]
    refused(sch, "runs once; nothing can be copied ahead", lambda: sch.double_buffer("P", once))

"""pipeline: iterations of a loop that overlap, in stages."""

from __future__ import annotations

import itertools

import pytest
from harness.schedules import block_order, reads_back
from programs.parsed import parse
from programs.short import each, main, nest, program, sblock

from tir_mlir import Schedule, build
from tir_mlir.errors import LoweringError


def copy(to: str, source: str, at: str = "vk * 4 + vc") -> str:
    return nest("c:4", sblock(to, "vk:8O=k vc:4=c", f"{to}[vc] = {source}[{at}]"))


def scale(to: str, source: str) -> str:
    return nest("c:4", sblock(to, "vc:4=c", f"{to}[vc] = {source}[vc] * 2.0"))


def add(source: str) -> str:
    return nest("c:4", sblock("B", "vi:3=i vc:4R=c", f"B[vi] = B[vi] + {source}[vc]"))


def in_loop(*body: str, k: str = "k:8", buffers: str = "P:4 Q:4", after: tuple[str, ...] = ()) -> str:
    """A program whose loop k has this body."""
    return main(f"A:32 B:3 D:32; {buffers}", each("zero i:3", "B[vi] = 0.0"), nest(f"i:3 {k}", *body), *after)


def in_scope(text: str, buffer: str, scope: str) -> str:
    return text.replace(
        f'{buffer} = T.alloc_buffer((4, ), "float32"', f'{buffer} = T.alloc_buffer((4, ), "float32", scope="{scope}"'
    )


def pipelined(text: str, *arguments: object) -> Schedule:
    sch = Schedule(parse(text))
    sch.pipeline(loop_k(sch), *arguments)
    return sch


def loop_k(sch: Schedule):
    return next(loop for loop in sch.get_loops("B") if sch.get(loop).name == "k")


SIZES = ((32,), "float32"), ((3,), "float32"), ((32,), "float32")
THREE = in_loop(copy("P", "A"), scale("Q", "P"), add("Q"))


@pytest.mark.parametrize("stages", [2, 3, 8])
def test_copies_are_ahead_of_what_adds(stages, same_result):
    sch = pipelined(in_loop(copy("P", "A"), add("P")), stages)
    assert sch.verify()
    assert f"P = T.alloc_buffer(({stages}, 4))" in reads_back(sch)
    assert block_order(sch) == ["zero", "P_prologue", "P", "B"]
    same_result(sch, parse(in_loop(copy("P", "A"), add("P"))), *SIZES)


def legal_plans() -> list[tuple[list[int], list[int]]]:
    """Stages and orders of three children, each of which reads what the one before writes."""
    plans = [
        (list(stages), list(order))
        for stages in itertools.product(range(3), repeat=3)
        for order in itertools.permutations(range(3))
        if min(stages) == 0
    ]
    pairs = [(0, 1), (1, 2)]
    return [
        (s, o) for s, o in plans if all((s[a], o[a]) < (s[b], o[b]) for a, b in pairs) and (max(s) or o != [0, 1, 2])
    ]


@pytest.mark.few(3)
@pytest.mark.parametrize(("stages", "order"), legal_plans())
def test_every_plan_that_keeps_the_flow(stages, order, same_result):
    sch = pipelined(THREE, stages, order)
    assert sch.verify()
    reads_back(sch)
    same_result(sch, parse(THREE), *SIZES)


def illegal_plans() -> list[tuple[list[int], list[int]]]:
    legal = legal_plans()
    every = itertools.product(itertools.product(range(3), repeat=3), itertools.permutations(range(3)))
    return [(list(s), list(o)) for s, o in every if min(s) == 0 and max(s) and (list(s), list(o)) not in legal]


@pytest.mark.few(4)
@pytest.mark.parametrize(("stages", "order"), illegal_plans())
def test_every_other_plan_is_refused(stages, order, refused):
    sch = Schedule(parse(THREE))
    message = r"what is now first runs second: (P|Q)\(.*k=\d.*\) and (Q|B)\(.*k=\d.*\) touch (P|Q)\[\d\]"
    refused(sch, message, lambda: sch.pipeline(loop_k(sch), stages, order))


def test_a_buffer_has_a_plane_for_each_iteration_that_keeps_a_value_in_it():
    text = pipelined(THREE, [0, 1, 3]).mod.script()
    assert "P = T.alloc_buffer((2, 4))" in text and "Q = T.alloc_buffer((3, 4))" in text
    text = pipelined(THREE, [0, 1, 3], [2, 1, 0]).mod.script()  # a value is read before the next one is written
    assert "P = T.alloc_buffer((4,)" in text or "P = T.alloc_buffer((1, 4))" in text
    assert "Q = T.alloc_buffer((2, 4))" in text


def test_threads_share_memory_that_is_written_in_the_iteration_that_reads_it():
    sch = Schedule(parse(in_scope(THREE, "P", "shared")))
    sch.pipeline(loop_k(sch), [0, 1, 2], [2, 1, 0])
    assert "P = T.alloc_buffer((2, 4)" in sch.mod.script()


@pytest.mark.few(2)
@pytest.mark.parametrize(("n", "m"), [(3, 15), (1, 16), (2, 17), (5, 127), (4, 13)])
@pytest.mark.parametrize("stages", [2, 3])
def test_ragged_sizes(n, m, stages, same_result):
    inside = f"k * 4 + c < {m}" if m % 4 else ""
    copied = nest(f"i:{n} c:4", sblock("P", f"vi:{n}=i vj:{m}=k * 4 + c", "P[vi, vj] = A[vi, vj]", where=inside))
    added = nest(f"i:{n} c:4", sblock("B", f"vi:{n}=i vk:{m}R=k * 4 + c", "B[vi] = B[vi] + P[vi, vk]", where=inside))
    text = program(
        f"A:{n}x{m} B:{n}; P:{n}x{m}", each(f"zero i:{n}", "B[vi] = 0.0"), nest(f"k:{-(-m // 4)}", copied, added)
    )
    sch = Schedule(text)
    sch.pipeline(sch.get_loops("P")[0], stages)
    assert sch.verify()
    assert f"({stages}, {n}, 4)" in reads_back(sch)
    same_result(sch, text, ((n, m), "float32"), ((n,), "float32"))


SYMBOLIC = """
@T.prim_func
def main(a: T.handle, b: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n, 4))
    B = T.match_buffer(b, (n, 4))
    P = T.alloc_buffer((4,))
    for k in range(n):
        for c in range(4):
            with T.block("P"):
                vk, vc = T.axis.remap("OS", [k, c])
                P[vc] = A[vk, vc]
        for c in range(4):
            with T.block("B"):
                vk, vc = T.axis.remap("SS", [k, c])
                B[vk, vc] = P[vc] + 1.0
"""


@pytest.mark.parametrize("n", [1, 2, 5])
@pytest.mark.parametrize("stages", [2, 4])
def test_a_symbolic_extent_of_fewer_iterations_than_stages(n, stages, same_result):
    sch = Schedule(parse(SYMBOLIC))
    sch.pipeline(sch.get_loops("P")[0], stages)
    assert sch.verify()
    same_result(sch, parse(SYMBOLIC), ((n, 4), "float32"), ((n, 4), "float32"))


def test_an_iter_that_was_a_reduction_numbers_the_planes(same_result):
    """It indexes a store then, so that it is opaque."""
    text = in_loop(copy("P", "A").replace("opaque(8", "reduce(8"), add("P"))
    sch = pipelined(text, 2)
    assert sch.verify()
    reads_back(sch)
    same_result(sch, parse(text), *SIZES)


def test_an_iter_of_an_outer_block_numbers_the_planes(same_result):
    """`write_at` makes a block of the loop's body; its iter is the number of the iteration."""
    text = main("A:6x4 C:6x4", each("C:6x4", "C[vi, vj] = A[vi, vj] + 1.0"))
    sch = Schedule(parse(text))
    i, _ = sch.get_loops("C")
    outer = sch.blockize(sch.get_loops("C")[1])
    sch.write_at(i, outer, 0, "local")
    sch.double_buffer(outer, i, 2)
    reads_back(sch)
    same_result(sch, parse(text), ((6, 4), "float32"), ((6, 4), "float32"))


def test_a_first_copy_that_does_not_run(same_result):
    """Its condition is false in the only iteration of the prologue."""
    copied = sblock("P", "vk:8O=k - 1", "P[vk] = A[vk]", where="1 <= k")
    added = sblock("B", "vi:3=i vk:8R=k - 1", "B[vi] = B[vi] + P[vk]", where="1 <= k")
    text = in_loop(copied, added, k="k:9", buffers="P:8")
    sch = pipelined(text, 2)
    assert sch.verify()
    reads_back(sch)
    same_result(sch, parse(text), *SIZES)


def test_copies_from_registers_come_after_the_sums():
    """Loads are early, stores are late, with two planes of shared memory and one of registers."""
    late = nest("c:4", sblock("Q", "vc:4=c", "Q[vc] = P[vc]"))
    text = in_scope(in_loop(copy("P", "A"), late, add("Q")), "Q", "shared")
    sch = Schedule(parse(in_scope(text, "P", "local")))
    sch.pipeline(loop_k(sch), 2)
    assert block_order(sch) == ["zero", "P_prologue", "Q_prologue", "P", "B", "Q"]
    text = sch.mod.script()
    assert 'Q = T.alloc_buffer((2, 4), scope="shared")' in text and 'P = T.alloc_buffer((4,), scope="local")' in text


def test_what_a_block_alone_holds_is_the_body(same_result):
    step = sblock("step", "vi:3O=i vk:8O=k", 'R = T.alloc_buffer((4,))', 
                  nest("c:4", sblock("R", "vc:4=c", "R[vc] = A[vk * 4 + vc]")),
                  nest("c:4", sblock("B", "v:3O=vi vc:4R=c", "B[v] = B[v] + R[vc]")))  # fmt: skip
    text = main("A:32 B:3 D:32", each("zero i:3", "B[vi] = 0.0"), nest("i:3 k:8", step))
    sch = Schedule(parse(text))
    sch.pipeline(sch.get_loops("step")[1], 3)
    assert sch.verify()
    assert "R = T.alloc_buffer((3, 4))" in sch.mod.script() and "step" not in sch.mod.script()
    same_result(sch, parse(text), *SIZES)


def test_annotations_of_tvm_are_a_pipeline_on_a_cpu(same_result):
    sch = Schedule(parse(THREE))
    sch.annotate(loop_k(sch), "software_pipeline_stage", [0, 1, 3])
    sch.annotate(loop_k(sch), "software_pipeline_order", [2, 0, 1])
    assert "P_prologue" not in sch.mod.script()
    same_result(sch, parse(THREE), *SIZES)
    sch.unannotate(loop_k(sch), "software_pipeline_order")
    sch.annotate(loop_k(sch), "software_pipeline_order", [0, 2, 2])
    with pytest.raises(
        LoweringError, match=r'loop "k" cannot be the pipeline it is annotated as: order is \[0, 2, 2\]'
    ):
        build(sch, cache=False)


REFUSED = {
    "no stage": (THREE, (0,), "stages is at least 2, not 0"),
    "one stage": (THREE, (1,), "stages is at least 2, not 1: with one, loop k is as it is"),
    "more stages than iterations": (
        THREE,
        (9,),
        r"9 stages need as many iterations, loop k has 8\nuse at most 8 stages",
    ),
    "more stages of a list than iterations": (THREE, ([0, 8, 9],), "10 stages need as many iterations, loop k has 8"),
    "too few stages": (
        THREE,
        ([0, 1],),
        "stages has 2 numbers, the body of loop k has 3 children: P; Q; B",
    ),
    "too long an order": (THREE, ([0, 1, 1], [0, 1, 2, 3]), "order has 4 numbers, the body of loop k has 3 children"),
    "no permutation": (
        THREE,
        ([0, 1, 1], [0, 2, 2]),
        r"order is \[0, 2, 2\]; it has each position from 0 to 2 once, for P; Q; B",
    ),
    "a negative stage": (THREE, ([-1, 0, 0],), r"a stage is at least 0; stages are \[-1, 0, 0\]"),
    "an order for a number of stages": (THREE, (2, [0, 1, 2]), "whose stages are then a list, too"),
    "nothing changes": (THREE, ([1, 1, 1], [0, 1, 2]), "nothing would change"),
    "an order that breaks the flow": (
        THREE,
        ([0, 0, 1], [1, 0, 2]),
        r"first runs second: P\(i=0, k=0, c=0\) and Q\(i=0, k=0, c=0\) touch P\[0\]",
    ),
    "a value of the iteration before": (
        main(
            "A:32 B:3 D:32; P:4",
            each("zero i:3", "B[vi] = 0.0"),
            each("P:4", "P[vi] = 0.0"),
            nest("i:3 k:8", add("P"), copy("P", "A")),
        ),
        ([0, 1],),
        r"B\(i=0, k=1, c=0\) touch P\[0\]; P gets no planes: P is used outside of loop k",
    ),
    "read and overwritten in one iteration": (
        in_loop(copy("P", "D"), add("P"), nest("c:4", sblock("W", "vk:8O=k vc:4=c", "D[vk * 4 + vc] = P[vc]"))),
        (2,),
        "child of loop k, P, is not a copy that could run ahead: D, which it reads, is written by it or after it",
    ),
    "a tile that a later child overwrites": (
        in_loop(copy("P", "D", "vk * 4 - vk * 4 + vc"), add("P"), nest("c:4", sblock("W", "vc:4=c", "D[vc] = P[vc]"))),
        ([0, 1, 1],),
        r"runs second: W\(i=0, k=0, c=0\) and P\(i=0, k=1, c=0\) touch D\[0\]; D gets no planes: D is a parameter",
    ),
    "only copies": (in_loop(copy("P", "A"), scale("Q", "P")), (2,), "nothing in loop k follows"),
    "a parallel loop": (in_loop(copy("P", "A"), add("P"), k="k:8:parallel"), (2,), "loop k is parallel"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_a_pipeline_is_refused(name, refused):
    text, arguments, message = REFUSED[name]
    sch = Schedule(parse(text))
    block = "B" if "B[vi] = B" in text else "P"
    loop = next(lp for lp in sch.get_loops(block) if sch.get(lp).name == "k")
    refused(sch, message, lambda: sch.pipeline(loop, *arguments))


def test_a_sum_that_begins_in_the_prologue_is_refused(refused):
    first = nest("c:4", sblock("Q", "vi:3=i vk:32R=k * 4 + c", "Q[vi] = Q[vi] + A[vk]", init="Q[vi] = 0.0"))
    rest = nest("c:4", sblock("B", "vi:3=i vk:32R=k * 4 + c", "B[vi] = B[vi] + D[vk]"))
    sch = Schedule(parse(in_loop(first, rest, buffers="Q:3")))
    refused(sch, "adds up over loop k, and would begin again", lambda: sch.pipeline(loop_k(sch), [0, 1]))
    sch.pipeline(loop_k(sch), [1, 0])
    assert sch.verify()

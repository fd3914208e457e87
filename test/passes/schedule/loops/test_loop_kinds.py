"""parallel, vectorize, unroll, bind: which loops may run concurrently."""

import pytest
from programs.elementwise import rows, scale
from programs.matmul import matmul_nt
from programs.short import each, nest, program, sblock
from programs.sizes import matmul_nt_sizes, square
from programs.stages import Fork
from programs.symbolic import add_one

from tir_mlir import Schedule
from tir_mlir.dialect.diagnostics import ScheduleWarning
from tir_mlir.passes.schedule.loops.loop_kinds import THREAD_TAGS

# --- what they do -----------------------------------------------------------------------------------------------------


def test_each_kind_shows():
    cases = [("parallel", (), "T.parallel(16)"), ("vectorize", (), "T.vectorized(16)"), ("unroll", (), "T.unroll(16)")]
    for name, args, text in [*cases, ("bind", ("blockIdx.y",), 'T.thread_binding(16, thread="blockIdx.y")')]:
        sch = Schedule(scale(8, 16))
        getattr(sch, name)(sch.get_loops("B")[1], *args)
        assert f"for j in {text}:" in sch.mod.script()


@pytest.mark.parametrize(("n", "m"), [(1, 1), (15, 16), (17, 1), (16, 127)])
def test_all_at_once(n, m, same_result):
    sch = Schedule(scale(n, m))
    i, j = sch.get_loops("B")
    _, j_1 = sch.split(j, [None, 8])
    sch.parallel(i)
    sch.vectorize(j_1)
    same_result(sch, scale(n, m), *square(n, m))


@pytest.mark.parametrize("n", [0, 1, 15, 16, 127])
def test_a_symbolic_size(n, same_result):
    sch = Schedule(add_one(8))
    i_0, i_1 = sch.split(sch.get_loops("B")[0], [None, 16])
    sch.parallel(i_0)
    sch.unroll(sch.get_loops("B")[2])
    sch.vectorize(i_1)
    same_result(sch, add_one(8), *square(n, 8))


def test_a_kind_replaces_the_one_before():
    sch = Schedule(scale(8, 16))
    i, _ = sch.get_loops("B")
    sch.parallel(i)
    assert sch.get(i).kind == "parallel"
    for step, kind in ((sch.vectorize, "vectorized"), (sch.unroll, "unrolled")):
        with pytest.warns(ScheduleWarning, match=f"and is only {kind} now"):
            step(i)
        assert sch.get(i).kind == kind
    for tag in ("threadIdx.x", "blockIdx.x"):
        with pytest.warns(ScheduleWarning, match=f"and is only {tag} now"):
            sch.bind(i, tag)
        assert sch.get(i).kind == tag


def test_annotations_stay():
    sch = Schedule(scale(8, 16))
    i, _ = sch.get_loops("B")
    sch.annotate(i, "my.key", 1)
    sch.parallel(i)
    assert sch.get(i).annotations == {"my.key": 1}
    assert 'T.parallel(8, annotations={"my.key": 1})' in sch.mod.script()


@pytest.mark.parametrize("tag", THREAD_TAGS)
def test_thread_axes(tag):
    sch = Schedule(scale(8, 16))
    i, _ = sch.get_loops("B")
    sch.bind(i, tag)
    assert sch.get(i).kind == tag


def test_the_spatial_loops_of_a_reduction(same_result):
    sch = Schedule(matmul_nt(15, 16, 7))
    i, j, k = sch.get_loops("C")
    sch.parallel(i)
    sch.vectorize(j)
    sch.unroll(k)
    same_result(sch, matmul_nt(15, 16, 7), *matmul_nt_sizes(15, 16, 7))


def test_a_row_that_each_iteration_refills(same_result):
    sch = Schedule(rows(9, 5))
    i, j = sch.get_loops("C")
    sch.parallel(i)
    sch.vectorize(j)
    sch.vectorize(sch.get_loops("R")[1])
    same_result(sch, rows(9, 5), *square(9, 5))


def test_a_single_iteration_loop_may_be_of_any_kind(same_result):
    sch = Schedule(matmul_nt(4, 4, 1))
    k = sch.get_loops("C")[2]
    sch.parallel(k)
    same_result(sch, matmul_nt(4, 4, 1), *matmul_nt_sizes(4, 4, 1))


def test_a_race_of_the_user_is_not_the_fault_of_a_step():
    Racy = program(
        "A:8x4 C:8", nest("i:8 k:4:parallel", sblock("C", "SR i k", "C[vi] += A[vi, vk]", init="C[vi] = 0.0"))
    )
    sch = Schedule(Racy)
    sch.split(sch.get_loops("C")[0], [None, 4])


# --- what they refuse -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["parallel", "bind"])
def test_a_reduction_is_refused(kind, refused):
    sch = Schedule(matmul_nt(4, 5, 6))
    k = sch.get_loops("C")[2]
    words = {"parallel": "parallel", "bind": "bound to blockIdx.x"}
    args = ("blockIdx.x",) if kind == "bind" else ()
    message = rf"loop kk cannot be {words[kind]}: .*C\(i=0, j=0, kk=0\) and C\(i=0, j=0, kk=1\) touch C\[0, 0\]"
    refused(sch, message, lambda: getattr(sch, kind)(k, *args))


def test_threads_of_a_block_sum_up_together(same_result, refused):
    sch = Schedule(matmul_nt(4, 5, 6))
    i, _, k = sch.get_loops("C")
    sch.bind(i, "blockIdx.x")
    sch.bind(k, "threadIdx.x")
    assert sch.get(k).kind == "threadIdx.x"
    same_result(sch, matmul_nt(4, 5, 6), ((4, 6), "float32"), ((5, 6), "float32"), ((4, 5), "float32"))
    sch = Schedule(matmul_nt(4, 5, 6))
    k = sch.get_loops("C")[2]
    sch.decompose_reduction("C", k)  # without its init it adds to what is there
    sch.bind(sch.get_loops("C_update")[2], "threadIdx.x")
    same_result(sch, matmul_nt(4, 5, 6), ((4, 6), "float32"), ((5, 6), "float32"), ((4, 5), "float32"))


UPDATE = each("H i:40R", "H[X[vi]] = {}")


@pytest.mark.parametrize("axis", ["blockIdx.x", "threadIdx.x"])
@pytest.mark.parametrize(("dtype", "value"), [
    ("int32", "H[X[vi]] + 3"), ("float32", "H[X[vi]] + T.float32(3)"), ("int32", "T.max(H[X[vi]], vi)"),
    ("int64", "H[X[vi]] | T.int64(1)"),
])  # fmt: skip
def test_updates_that_a_gpu_makes_at_once_are_bound(axis, dtype, value):
    sch = Schedule(program(f"X:40:int32 H:7:{dtype}", UPDATE.format(value)))
    sch.bind(sch.get_loops("H")[0], axis)
    assert sch.verify()


@pytest.mark.parametrize(("dtype", "value", "why"), [
    ("int32", "vi", "an index of H is computed from data"),
    ("int32", "H[X[vi]] * 3", "no GPU has an atomic instruction for arith.muli of int32"),
    ("float32", "T.max(H[X[vi]], T.float32(1))", "no GPU has an atomic instruction for arith.maximumf of float32"),
    ("int8", "H[X[vi]] + T.int8(1)", "no GPU has an atomic instruction for arith.addi of int8"),
    ("int32", "H[X[vi]] + H[0]", "an index of H is computed from data"),
    ("int32", "H[X[vi]] - 1", "an index of H is computed from data"),
])  # fmt: skip
def test_other_updates_at_places_that_data_choose_are_refused(dtype, value, why, refused):
    sch = Schedule(program(f"X:40:int32 H:7:{dtype}", UPDATE.format(value)))
    refused(sch, why, lambda: sch.bind(sch.get_loops("H")[0], "threadIdx.x"))


def test_sums_that_the_loop_reads_are_not_bound(refused):
    body = [sblock("H", "vi:40R=i", "H[X[vi]] += 1"), sblock("Y", "vi:40=i", "Y[vi] = H[X[vi]]")]
    sch = Schedule(program("X:40:int32 H:7:int32 Y:40:int32", nest("i:40", *body)))
    refused(
        sch,
        "whether two iterations of H and Y access one element",
        lambda: sch.bind(sch.get_loops("H")[0], "blockIdx.x"),
    )


def test_a_part_of_a_reduction_is_refused(refused):
    sch = Schedule(matmul_nt(4, 5, 16))
    k_0, k_1 = sch.split(sch.get_loops("C")[2], [None, 4])
    refused(sch, "depend on each other", lambda: sch.parallel(k_0))
    refused(sch, "depend on each other", lambda: sch.bind(k_1, "blockIdx.x"))
    fused = sch.fuse(*sch.get_loops("C")[:2])
    sch.parallel(fused)


def test_a_loop_that_mixes_spatial_and_reduce_is_refused(refused):
    sch = Schedule(matmul_nt(4, 5, 6))
    _, j, k = sch.get_loops("C")
    fused = sch.fuse(j, k)
    refused(sch, r"C\(i=0, j_kk_fused=0\) and C\(i=0, j_kk_fused=1\) touch C\[0, 0\]", lambda: sch.vectorize(fused))


def test_a_sum_that_ends_outside_the_loop_is_refused(refused):
    Total = program(
        "A:8x6 C:1", nest("i:8 j:6", sblock("C", "vo:1=0 vi:8R=i vj:6R=j", "C[vo] += A[vi, vj]", init="C[vo] = 0.0"))
    )
    sch = Schedule(Total)
    i, j = sch.get_loops("C")
    refused(sch, r"touch C\[0\]", lambda: sch.parallel(i))
    refused(sch, r"touch C\[0\]", lambda: sch.parallel(j))


def test_a_shared_row_is_refused_unless_each_iteration_refills_it(refused):
    # R keeps what the iteration before left in it.
    Kept = program(
        "A:9x5 C:9x5; R:5",
        each("zero j:5", "R[vj] = 0.0"),
        nest(
            "i:9",
            nest("j:5", sblock("C", "SS i j", "C[vi, vj] = R[vj]")),
            nest("j:5", sblock("R", "vi:9O=i vj:5=j", "R[vj] = A[vi, vj]")),
        ),
    )
    sch = Schedule(Kept)
    i, j = sch.get_loops("R")
    refused(sch, r"C\(i=0, j=0\) and R\(i=1, j=0\) touch R\[0\]", lambda: sch.parallel(i))
    sch.parallel(j)


def test_a_shared_row_is_refused_where_it_is_read_afterwards(refused):
    Last = program("A:9x5 C:5; R:5", each("R i:9O j:5", "R[vj] = A[vi, vj]"), each("C j:5", "C[vj] = R[vj]"))
    sch = Schedule(Last)
    i, j = sch.get_loops("R")
    refused(sch, r"R\(i=0, j=0\) and R\(i=1, j=0\) touch R\[0\]", lambda: sch.parallel(i))
    sch.vectorize(j)


def test_a_sweep_is_refused(refused, same_result):
    Sweep = program("A:9x8", each("A i:8O j:8", "A[vi + 1, vj] = A[vi, vj] + 1.0"))
    sch = Schedule(Sweep)
    i, j = sch.get_loops("A")
    refused(sch, r"A\(i=0, j=0\) and A\(i=1, j=0\) touch A\[1, 0\]", lambda: sch.parallel(i))
    sch.parallel(j)
    same_result(sch, Sweep, ((9, 8), "float32"))


def test_a_gather_may_be_parallel_a_scatter_may_not(refused):
    Gather = program("I0:8:int32 A:8 B:8", each("B", "B[vi] = A[I0[vi]]"))
    Scatter = program("I0:8:int32 A:8 B:8", each("B i:8O", "B[I0[vi]] = A[vi]"))
    sch = Schedule(Gather)
    sch.parallel(sch.get_loops("B")[0])
    sch = Schedule(Scatter)
    undecided = "whether two iterations of B access one element of B: undecided, an index of B is computed from data"
    refused(sch, undecided, lambda: sch.parallel(sch.get_loops("B")[0]))


def test_the_halo_of_a_parallel_tile(same_result):
    Blur = program("A:18 C:16; P:18", each("P:18", "P[vi] = A[vi] * 2.0"), each("C:16", "C[vi] = P[vi] + P[vi + 2]"))
    sch = Schedule(Blur)
    i_0, _i_1 = sch.split(sch.get_loops("C")[0], [4, 4])
    sch.compute_at("P", i_0)
    sch.parallel(i_0)
    same_result(sch, Blur, ((18,), "float32"), ((16,), "float32"))


def test_unknown_thread_axes(refused):
    sch = Schedule(scale(8, 16))
    i, _ = sch.get_loops("B")
    for tag in ("threadIdx", "blockIdx.w", "parallel", ""):
        refused(sch, f'"{tag}" is not a thread axis; use one of blockIdx.x', lambda tag=tag: sch.bind(i, tag))
    refused(sch, '"thread_axis" has wrong type', lambda: sch.bind(i, 3), TypeError)


def test_wrong_handles(refused):
    sch = Schedule(scale(8, 16))
    block = sch.get_block("B")
    for step in (sch.parallel, sch.vectorize, sch.unroll):
        refused(sch, "wrong type", lambda step=step: step(block), TypeError)
        refused(sch, "wrong type", lambda step=step: step("i"), TypeError)


@pytest.mark.parametrize(
    ("kind", "step"),
    [
        ("vectorize", lambda sch, i, j: sch.split(j, [None, 4])),
        ("unroll", lambda sch, i, j: sch.fuse(i, j)),
        ("parallel", lambda sch, i, j: sch.loop_partition(j, [4, None])),
        ("vectorize", lambda sch, i, j: sch.transform_block_layout("B", lambda i, j: (j, i))),
    ],
    ids=["split", "fuse", "loop_partition", "transform_block_layout"],
)
def test_a_step_that_makes_serial_loops_says_so(kind, step):
    sch = Schedule(scale(8, 16))
    i, j = sch.get_loops("B")
    getattr(sch, kind)(j)
    again = {"vectorize": "vectorized", "unroll": "unrolled", "parallel": "parallel"}[kind]
    with pytest.warns(ScheduleWarning, match=f"loop j was {again}; .* makes serial loops; apply {kind} to one of them"):
        step(sch, i, j)


def test_a_kind_that_replaces_another_says_so():
    sch = Schedule(scale(8, 16))
    _, j = sch.get_loops("B")
    sch.vectorize(j)
    sch.vectorize(j)
    with pytest.warns(ScheduleWarning, match="loop j was vectorized, and is only parallel now: a loop has one kind"):
        sch.parallel(j)


def test_a_block_that_moves_leaves_its_vectors_behind():
    sch = Schedule(Fork)
    loop = sch.get_loops("B")[-1]
    sch.vectorize(loop)
    text = f'loop {sch.get(loop).name} was vectorized; moving block "B" makes serial loops; apply vectorize'
    with pytest.warns(ScheduleWarning, match=text):
        sch.compute_at("B", sch.get_loops("C")[0])

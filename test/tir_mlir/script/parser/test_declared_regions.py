"""T.reads and T.writes as the program gives them: their order, views, and blocks that are the root."""

import pytest

from tir_mlir import Schedule
from tir_mlir.dialect.diagnostics import ScriptError
from tir_mlir.script import parse
from tir_mlir.script.structural_equal import difference

HEAD = "from tvm.script import tir as T\n\n@T.prim_func\n"


def program(text: str):
    return parse(HEAD + text)


def same(one, other) -> str | None:
    return difference(one.mlir, other.mlir, names=False)


SUM = """
def main(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32"), C: T.Buffer((16,), "float32")):
    for i in range(16):
        with T.block("C"):
            vi = T.axis.spatial(16, i)
            {reads}
            C[vi] = A[vi] + B[vi]
"""


def test_the_order_of_regions_is_the_declared_one():
    plain, turned = program(SUM.format(reads="pass")), program(SUM.format(reads="T.reads(B[vi], A[vi])"))
    assert "T.reads(A[vi], B[vi])" in plain.script() and "T.reads(B[vi], A[vi])" in turned.script()
    assert same(plain, turned) is not None
    assert same(turned, parse(turned.script())) is None


def test_buffers_are_counted_in_the_declared_order():
    sch = Schedule(program(SUM.format(reads="T.reads(B[vi], A[vi])")))
    assert sch.get(sch.cache_read("C", 0, "local")).name == "B_local"
    assert "T.reads(B_local[vi], A[vi])" in sch.mod.script()


def test_a_block_around_lists_regions_in_the_order_of_the_block_inside():
    sch = Schedule(program(SUM.format(reads="T.reads(B[vi], A[vi])")))
    sch.blockize(sch.split(sch.get_loops("C")[0], [None, 4])[1])
    assert "T.reads(B[vi_o * 4:vi_o * 4 + 4], A[vi_o * 4:vi_o * 4 + 4])" in sch.mod.script()


def test_copies_put_in_front_leave_the_order_of_the_block_around():
    sch = Schedule(program(SUM.format(reads="pass")))
    sch.blockize(sch.split(sch.get_loops("C")[0], [None, 4])[1])
    sch.cache_read("C", "B", "local")
    assert "T.reads(A[vi_o * 4:vi_o * 4 + 4], B[vi_o * 4:vi_o * 4 + 4])" in sch.mod.script()


VIEW = """
def main(A: T.Buffer((16, 16), "float32"), C: T.Buffer((16, 16), "float32")):
    for i in range(4):
        with T.block("o"):
            vi = T.axis.spatial(4, i)
            T.reads(A[vi * 4:vi * 4 + 4, 0:16])
            T.writes(C[vi * 4:vi * 4 + 4, 0:16])
            A1 = T.match_buffer(A[vi * 4:vi * 4 + 4, 0:16], (4, 16), offset_factor=1)
            C1 = T.match_buffer(C[vi * 4:vi * 4 + 4, 0:16], (4, 16), offset_factor=1)
            for x, y in T.grid(4, 16):
                with T.block("i"):
                    vx, vy = T.axis.remap("SS", [x, y])
                    {regions}
                    C1[vx, vy] = A1[vx, vy]
"""


def test_a_region_may_be_one_of_a_view():
    declared = program(VIEW.format(regions="T.reads(A1[vx, vy]); T.writes(C1[vx, vy])"))
    assert same(declared, program(VIEW.format(regions="pass"))) is None
    text = declared.script()
    assert "T.reads(A1[vx, vy])" in text and "T.writes(C1[vx, vy])" in text
    assert same(declared, parse(text)) is None


def test_a_region_of_a_view_of_a_view():
    text = """
def main(A: T.Buffer((16, 16), "float32")):
    for i in range(16):
        with T.block("o"):
            vi = T.axis.spatial(16, i)
            A1 = T.match_buffer(A[vi, 0:16], (16,))
            for j in range(4):
                with T.block("p"):
                    vj = T.axis.spatial(4, j)
                    A2 = T.match_buffer(A1[vj * 4:vj * 4 + 4], (4,))
                    for k in range(4):
                        with T.block("q"):
                            vk = T.axis.spatial(4, k)
                            A2[vk] = T.float32(0)
"""
    shown = program(text).script()
    for region in ("A[vi, 0:16]", "A1[vj * 4:vj * 4 + 4]", "A2[vk]"):
        assert f"T.writes({region})" in shown
    assert same(program(text), parse(shown)) is None


def test_doubly_accessed_elements_count_as_a_region_of_the_buffer():
    text = VIEW.format(regions="pass").replace("= A1[vx, vy]", "= A1[vx, vy] + A[vi * 4, vy]")
    assert "T.reads(A[vi * 4:vi * 4 + (vx + 1), vy])" in program(text).script()


def test_a_region_may_exceed_the_accessed_elements():
    """That of a block in a block, too, wherever that one is."""
    text = """
def main(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
    for i in range(4):
        with T.block("o"):
            vo = T.axis.spatial(4, i)
            for j in range(4):
                with T.block("i"):
                    vj = T.axis.spatial(4, j)
                    T.reads(A[{reads}])
                    T.writes(B[vo * 4:vo * 4 + 4])
                    B[vo * 4 + vj] = A[vo * 4 + vj]
"""
    shown = program(text.format(reads="0:16")).script()
    assert "T.reads(A[0:16])" in shown and "T.writes(B[vo * 4:vo * 4 + 4])" in shown
    with pytest.raises(
        ScriptError, match=r'block "i": T.reads of A is smaller than the region that the block accesses'
    ):
        program(text.format(reads="0:15"))


def test_a_region_of_a_view_that_is_too_small():
    with pytest.raises(
        ScriptError, match=r'block "i": T.reads of A is smaller than the region that the block accesses'
    ):
        program(VIEW.format(regions="T.reads(A1[0, 0])"))


@pytest.mark.parametrize("head", ['"root"', '""', ""])
@pytest.mark.parametrize("regions", ["pass", "T.reads([]); T.writes([])", "T.reads(); T.writes()"])
def test_a_block_that_is_the_root(head, regions):
    body = """
        for i in range(4):
            with T.block("A"):
                vi = T.axis.spatial(4, i)
                A[vi] = 1.0
"""
    start = 'def main(A: T.Buffer((4,), "float32")):'
    implicit = program(start + body)
    written = program(f"{start}\n    with T.block({head}):\n        {regions}{body}")
    assert same(implicit, written) is None and "# with" in written.script()
    body = f'\n        T.block_attr({{"my.k": [1]}}){body}'
    noted = program(f"{start}\n    with T.block({head}):\n        {regions}{body}")
    assert same(implicit, noted) is not None and 'T.block_attr({"my.k": [1]})' in noted.script()
    assert same(noted, parse(noted.script())) is None
    sch = Schedule(implicit)
    sch.annotate(sch.get_block("root"), "my.k", [1])
    assert same(sch.mod, noted) is None
    sch.unannotate(sch.get_block("root"), "my.k")
    assert same(sch.mod, implicit) is None


def test_a_block_without_iters_of_another_name_is_a_block():
    sch = Schedule(program('def main(A: T.Buffer((4,), "float32")):\n    with T.block("b"):\n        A[0] = 1.0'))
    assert sch.get(sch.get_block("b")).writes == ["A"]


@pytest.mark.parametrize(
    ("value", "reads", "order"),
    [
        ("A[vi, vk] * B[vk, vj] + C[vi, vj]", "pass", "C A B"),
        ("C[vi, vj] + A[vi, vk] * B[vk, vj]", "T.reads(B[vk, vj], A[vi, vk])", "C B A"),
        ("C[vi, vj] + A[vi, vk] * B[vk, vj]", "T.reads(A[vi, vk], C[vi, vj], B[vk, vj])", "A C B"),
    ],
)
def test_an_update_reads_what_it_writes_first(value, reads, order):
    text = f"""
def main(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32"), C: T.Buffer((16, 16), "float32")):
    for i, j, k in T.grid(16, 16, 16):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            {reads}
            with T.init():
                C[vi, vj] = 0.0
            C[vi, vj] = {value}
"""
    sch = Schedule(program(text))
    k = sch.get_loops("C")[2]
    k_0, k_1 = sch.split(k, [None, 4])
    outer = sch.blockize(k_1)
    sch.decompose_reduction(outer, k_0)
    for block in ("C", "C_o_update"):
        assert " ".join(sch.get(sch.get_block(block)).reads) == order
    sch = Schedule(program(text))
    sch.decompose_reduction("C", sch.get_loops("C")[2])
    assert " ".join(sch.get(sch.get_block("C_update")).reads) == order


GATHER = """
def main(A: T.Buffer((16,), "float32"), B: T.Buffer((15,), "float32"), I: T.Buffer((16,), "int32")):
    for i in range(15):
        with T.block("C"):
            vi = T.axis.spatial(15, i)
            T.reads(I[vi], {read})
            T.writes(B[vi])
            {view}
            B[vi] = A[I[vi]]
"""


@pytest.mark.parametrize("read", ["A[I[vi]]", "A[I[vi]:I[vi + 1]]", "A[vi * vi]", "A[0:16]"])
def test_an_index_that_is_not_affine_declares_the_whole_axis(read):
    module = program(GATHER.format(read=read, view="pass"))
    assert "T.reads(I_[vi], A[0:16])" in module.script()
    assert same(module, program(GATHER.format(read="A[0:16]", view="pass"))) is None


def test_a_region_is_bounded_by_integers():
    with pytest.raises(ScriptError, match="a region is bounded by integers"):
        program(GATHER.format(read="A[A[vi]]", view="pass"))


def test_a_view_needs_an_affine_region():
    with pytest.raises(ScriptError, match="bounded by affine expressions"):
        program(GATHER.format(read="A[0:16]", view="D = T.match_buffer(A[I[vi]:I[vi] + 4], (4,))"))


OPAQUE = """
def main(A: T.Buffer((32,), "float32"), B: T.Buffer((32,), "float32")):
    for i, j in T.grid(4, 2):
        with T.block("call"):
            T.reads(A[{start}:{start} + 4])
            T.writes(B[0:32])
            T.evaluate(T.call_extern("int32", "f", A.access_ptr("r", offset=i * 4, extent=4), B.access_ptr("w")))
"""


@pytest.mark.parametrize(
    ("start", "hull"), [("i * 4", "0:16"), ("i * 4 + 12", "12:28"), ("(3 - i) * 4 + j * 4", "0:20")]
)
def test_a_region_of_an_opaque_block_over_the_loops_around_it_is_its_hull(start, hull):
    text = OPAQUE.format(start=start)
    if start == "i * 4 + 12":
        text = text.replace("offset=i * 4", "offset=i * 4 + 12")
    elif "j" in start:
        text = text.replace("offset=i * 4", "offset=(3 - i) * 4 + j * 4")
    module = program(text)
    assert f"T.reads(A[{hull}])" in module.script()
    assert same(module, parse(module.script())) is None


def test_a_hull_that_leaves_out_iterations_is_too_small():
    with pytest.raises(ScriptError, match=r"T.reads of A is smaller than the region that the block accesses"):
        program(OPAQUE.format(start="(i // 2) * 4"))


MIRRORED = """
def main(A: T.Buffer((16,), "float32"), C: T.Buffer((4, 2), "float32")):
    for i, j in T.grid(4, 2):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.reads({region})
            T.writes(C[vi, vj])
            C[vi, vj] = A[1 - vj] + A[vj]
"""


def test_a_region_may_be_smaller_than_the_box_of_all_accesses():
    """No expression in vj is the box of both: A[0:16] without T.reads."""
    assert "T.reads(A[0:2])" in program(MIRRORED.format(region="A[0:2]")).script()


@pytest.mark.parametrize("region", ["A[0:1]", "A[vj:vj + 2]"])
def test_a_region_has_what_each_access_touches(region):
    with pytest.raises(ScriptError, match="is smaller than the region that the block accesses"):
        program(MIRRORED.format(region=region))

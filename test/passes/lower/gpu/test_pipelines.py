"""Copies that run ahead: asynchronous where the GPU has that, with the waits that are needed and no others."""

import re

import numpy as np
import pytest
from harness import tensor_cores
from programs.pipelines import pipelined

from fuzzing.kernels.machine import on_machine
from tir_mlir import build, interpret, ptx
from tir_mlir.errors import PtxError
from tir_mlir.intrin.wmma import get_wmma_intrin_group
from tir_mlir.passes.lower.registry import LoweringWarning

WAIT, COMMIT, COPY, BARRIER = "cp.async.wait_group", "cp.async.commit_group", "cp.async.cg", "bar.sync"


def operands(shape=(64, 64, 64), dtype="float32"):
    m, n, k = shape
    rng = np.random.default_rng(0)
    return rng.integers(-3, 4, (m, k)).astype(dtype), rng.integers(-3, 4, (k, n)).astype(dtype)


@pytest.mark.parametrize("stages", [2, 3, 4])
def test_as_many_groups_are_pending_as_the_planes_allow(stages):
    text = build(pipelined(stages), target="sm_80").assembly
    assert [text.count(word) for word in (COPY, COMMIT, BARRIER)] == [2, 1, 1]
    assert [int(n) for n in re.findall(rf"{WAIT}\s+(\d+)", text)] == [stages - 2, 0]


@pytest.mark.few(2)
@pytest.mark.parametrize("shape", [(64, 64, 64), (64, 127, 48), (65, 130, 33), (127, 65, 17)])
@pytest.mark.parametrize("stages", [2, 3])
def test_results(shape, stages):
    a, b = operands(shape)
    c = np.zeros((shape[0], shape[1]), np.float32)
    (launch,) = interpret(pipelined(stages, shape, vector=1), a, b, c, target="sm_80").launches
    np.testing.assert_array_equal(c, a @ b)
    assert any(name.startswith("cp.async.ca") for name in launch.instructions)


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("fault", "old", "new"),
    [
        ("a wait for one group less", r"(cp\.async\.wait_group\s+)1;", r"\g<1>2;"),
        ("no wait", r"cp\.async\.wait_group\s+1;", ""),
        ("groups that never end", r"cp\.async\.commit_group;", ""),
        ("no barrier", r"bar\.sync\s+0;", ""),
    ],
)
def test_each_wait_is_needed(fault, old, new):
    lib = build(pipelined(3, (64, 64, 48)), target="sm_80")
    text = re.sub(old, new, lib.assembly)
    assert text != lib.assembly, fault
    a, b = operands((64, 64, 48))
    args = [a, b, np.zeros((64, 64), np.float32)]
    with pytest.raises(PtxError, match="race"):
        ptx.launch(text, "main_kernel", (1, 1), (16, 16), args, unwritten=[2])


def test_swizzled_tiles():
    a, b = operands()
    c = np.zeros((64, 64), np.float32)
    on_machine(pipelined(2, swizzle=True), [a, b, c])
    np.testing.assert_array_equal(c, a @ b)


def test_older_gpus_load_and_store():
    sch = pipelined(2)
    with pytest.warns(
        LoweringWarning, match="copies to A_shared, B_shared pass .* as sm_75 has no cp.async; a copy in"
    ):
        text = build(sch, target="sm_75", cache=False).assembly
    assert "cp.async" not in text and text.count(BARRIER) == 1
    assert sch.verify(target="sm_75")


@pytest.mark.filterwarnings("error")
def test_copies_through_registers_load_before_the_sums_and_store_after_them():
    sch = pipelined(1, (64, 64, 128))
    k_0 = sch.get_loops("A_shared")[4]
    for copy in ("A_shared", "B_shared"):
        loaded = sch.cache_read(copy, 0, "local")
        sch.compute_at(loaded, k_0)
        _, y, x, lanes = sch.split(sch.fuse(*sch.get_loops(loaded)[5:]), [None, 16, 16, 4])
        sch.bind(y, "threadIdx.y")
        sch.bind(x, "threadIdx.x")
        sch.vectorize(lanes)
    sch.pipeline(k_0, 2)
    a, b = operands((64, 64, 128))
    c = np.zeros((64, 64), np.float32)
    interpret(sch, a, b, c, target="sm_75")
    np.testing.assert_array_equal(c, a @ b)
    words = re.findall(r"ld\.global|st\.shared|fma\.rn|bar\.sync", build(sch, target="sm_75").assembly)
    order = [word for n, word in enumerate(words) if n == 0 or words[n - 1] != word]
    loop = order[order.index("fma.rn") - 2 :]
    assert {"ld.global", "st.shared"}.isdisjoint(loop[loop.index("fma.rn") + 1 : loop.index("st.shared")])
    assert words.count("bar.sync") == 1


def test_copies_of_the_iteration_that_reads_them_stay_in_registers():
    assert "cp.async" not in build(pipelined(1), target="sm_80").assembly


def test_elements_that_are_too_narrow():
    sch = pipelined(2, dtype="float16", vector=1)
    with pytest.warns(LoweringWarning, match="what is copied to A_shared is loaded and stored: .* vectorize the copy"):
        text = build(sch, target="sm_80", cache=False).assembly
    assert "cp.async" not in text
    assert sch.verify(target="sm_80")
    assert "cp.async.ca" in build(pipelined(2, dtype="float16"), target="sm_80").assembly


def test_tiles_of_tensor_cores():
    sch, blocks = tensor_cores.tiled(tensor_cores.product(32, 32, 64), vector=8)
    loops = {sch.get(loop).name: loop for loop in sch.get_loops("A_shared")}
    sch.double_buffer(["A_shared", "B_shared"], loops["k_0"])
    for key, name in get_wmma_intrin_group("shared", "global", "float16", "float32").items():
        sch.tensorize(blocks[key] if key == "compute" else sch.get_loops(blocks[key])[-2], name)
    assert COPY in build(sch, target="sm_80").assembly
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-4, 5, shape).astype(np.float16) for shape in ((32, 64), (64, 32)))
    c = np.zeros((32, 32), np.float32)
    on_machine(sch, [a, b, c])
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))


def test_cuda_c():
    lines = build(pipelined(3), target="sm_80").source.splitlines()
    calls = [line.split("(")[0].strip() for line in lines if "__pipeline" in line]
    assert calls == ["__pipeline_memcpy_async"] * 2 + ["__pipeline_commit"] + ["__pipeline_wait_prior"] * 2
    assert lines[0] == "#include <cuda_pipeline.h>"


def test_annotations_of_tvm_are_a_pipeline():
    """The same text as by the step."""
    notes = {"software_pipeline_stage": [0, 0, 2], "software_pipeline_order": [0, 1, 2]}
    sch, step = pipelined(1), pipelined(1)
    for key, value in {**notes, "software_pipeline_async_stages": [0]}.items():
        sch.annotate(sch.get_loops("A_shared")[4], key, value)
    step.pipeline(step.get_loops("A_shared")[4], 3)
    one, other = (re.sub(r"\s*\.loc .*|//.*", "", build(s, target="sm_80").assembly) for s in (sch, step))
    assert one == other and one.count(COPY) == 6


def test_double_buffer_scope_is_a_pipeline_of_two_stages():
    sch, step = pipelined(1), pipelined(1)
    for copy in ("A_shared", "B_shared"):
        sch.annotate(sch.get_block(copy), "double_buffer_scope", 0)
    step.pipeline(step.get_loops("A_shared")[4], 2)
    one, other = (re.sub(r"\s*\.loc .*|//.*", "", build(s, target="sm_80").assembly) for s in (sch, step))
    assert one == other

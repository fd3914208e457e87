"""Predicted times: known runs, limits, what is said about them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from harness import ptx as kernels
from programs import gpu_programs, measured_products
from programs.products import product as plain_product
from programs.short import each, main

from tir_mlir import Schedule, build, ptx
from tir_mlir.dialect.diagnostics import BuildError
from tir_mlir.ptx.prediction.cards import CARDS, find_card
from tir_mlir.ptx.prediction.estimate import LAUNCH_SECONDS, GpuPrediction, predict
from tir_mlir.ptx.prediction.registers import live_registers
from tir_mlir.ptx.prediction.tracing import TracedLaunch


def product(n: int):
    return build(measured_products.measured(n), target="sm_90")


@pytest.mark.parametrize(("n", "measured"), [(1024, 31.7), pytest.param(4096, 46.6, marks=pytest.mark.nightly)])
def test_products_that_were_measured_on_an_h200(n, measured):
    """By `make gpu`, TFLOP/s; see docs/gpu/run.md."""
    rate = 2e-12 * n**3 / product(n).predict(gpu="H200").seconds
    assert rate == pytest.approx(measured, rel=0.15)


def test_a_copy_takes_the_time_of_dram():
    n = 1 << 26
    sch = Schedule(gpu_programs.parse(main(f"A:{n} B:{n}", each(f"B i:{n}", "B[vi] = A[vi]"), name="f")))
    block, thread, lane = sch.split(sch.get_loops("B")[0], [None, 256, 4])
    gpu_programs.bind(sch, blockIdx_x=block, threadIdx_x=thread)
    sch.vectorize(lane)
    (launch,) = build(sch, target="sm_80").predict().launches
    assert launch.limit == "DRAM" and launch.seconds == pytest.approx(8 * n / 1400e9, rel=0.05)
    assert "fuse" in launch.advice


def launch(body: str, threads: int = 32, blocks: int = 1, shared: int = 1024) -> TracedLaunch:
    module = ptx.parse(kernels.module(kernels.kernel(body, 1, shared=shared), target="sm_80"))
    address = 1 << 52
    arrays = ((address, 1 << 30),)
    return TracedLaunch(module.kernels["k"], (blocks, 1, 1), (threads, 1, 1), 0, address.to_bytes(8, "little"), arrays)


def on_a100(body: str, threads: int = 32, blocks: int = 1, registers: int = 32) -> GpuPrediction:
    return predict(launch(body, threads, blocks), CARDS["A100"], registers)


LOOP = "mov.b32 %r9, 0;\nLOOP:\n{}\nadd.s32 %r9, %r9, 1;\nsetp.lt.u32 %q1, %r9, 1000;\n@%q1 bra LOOP;"
SHARED = "mov.b32 %r1, buffer;\nmul.lo.u32 %r2, %t, {};\nadd.s32 %r3, %r1, %r2;\n"
# what a block does 1000 times, threads, blocks, the limit, a part of the advice
LIMITS = {
    "dependent sums": ("fma.rn.f32 %r1, %r1, %r1, %r1;" * 50, 32, 216, "latency", "smaller tiles"),
    "registers": ("ld.shared.b32 %r3, [%r3];" * 20, 128, 1080, "latency", "more registers"),
    "sums": ("fma.rn.f32 %r1, %r2, %r2, %r2;" * 50, 512, 1080, "fma", "tensor"),
    "powers": ("ex2.approx.ftz.f32 %r1, %r2;" * 20, 512, 1080, "sfu", "once"),
    "conflicts": ("ld.shared.b32 %r5, [%r3];" * 20, 512, 1080, "memory", "97 % of the passes are bank conflicts"),
    "few blocks": ("bar.sync 0;\nfma.rn.f32 %r1, %r2, %r2, %r2;", 32, 4, "latency", "smaller tiles"),
}


@pytest.mark.parametrize("name", LIMITS)
def test_what_limits_and_what_would_help(name):
    text, threads, blocks, limit, advice = LIMITS[name]
    found = on_a100(SHARED.format(128) + LOOP.format(text), threads, blocks, 255 if name == "registers" else 32)
    assert (found.limit, advice in found.advice) == (limit, True), found


def test_a_kernel_of_no_work_takes_a_launch():
    found = on_a100("")
    assert found.limit == "launch" and found.seconds == pytest.approx(LAUNCH_SECONDS, rel=0.1)


def test_dependent_instructions_wait_for_each_other():
    chain, free = (on_a100(LOOP.format(f"fma.rn.f32 {d}, %r2, %r2, %r1;" * 100)) for d in ("%r1", "%r3"))
    assert chain.alone == pytest.approx(400_000, rel=0.05) and free.alone < 0.6 * chain.alone


def test_more_registers_mean_fewer_blocks():
    few, many = (on_a100(LOOP.format("bar.sync 0;"), 256, 1080, registers) for registers in (32, 200))
    assert (few.resident, many.resident, many.held_by) == (8, 1, "registers")
    assert many.seconds > 2 * few.seconds


def test_a_part_of_a_wave_takes_as_long_as_a_wave():
    one, more = (on_a100(LOOP.format("fma.rn.f32 %r1, %r1, %r1, %r1;"), 1024, blocks) for blocks in (216, 217))
    assert more.seconds > 1.4 * one.seconds and "the last wave fills 0 % of the card" in str(more)


def test_text_of_a_prediction():
    text = str(on_a100(LOOP.format("bar.sync 0;")))
    assert text.splitlines()[0].startswith("predicted on A100: ") and "limit: latency" in text
    assert "note:" in str(on_a100("ld.global.b32 %r9, [%p0];\nsetp.eq.s32 %q1, %r9, 0;\n@%q1 ret;"))


def test_registers_of_the_text_are_near_those_of_ptxas():
    """110 by ptxas 12.9."""
    (kernel,) = ptx.parse(product(128).assembly).kernels.values()
    assert 90 <= live_registers(kernel) <= 140


@pytest.mark.parametrize(("name", "capability", "message"), [
    ("GTX", 80, "no rates are known of the GPU 'GTX'; they are of T4, A100"),
    ("T4", 80, "T4 is sm_75: it runs no kernels for sm_80"),
    (None, 60, "no rates are known of sm_60; they are of sm_75"),
])  # fmt: skip
def test_cards_that_are_refused(name, capability, message):
    with pytest.raises(BuildError, match=message):
        find_card(name, capability)


def test_names_of_cards_have_no_case():
    assert find_card("h200", 90) is CARDS["H200"] and find_card(None, 80) is CARDS["A100"]


def test_a_library_for_a_cpu_has_no_kernels():
    sch = Schedule(plain_product(4, 4, 4))
    with pytest.raises(BuildError, match="no kernels in PTX"):
        build(sch).predict()


def test_a_faster_card_is_faster():
    body = launch(LOOP.format("fma.rn.f32 %r1, %r2, %r2, %r2;" * 50), 512, 1080)
    slow = CARDS["A100"]
    assert predict(body, replace(slow, f32=128), 32).seconds < 0.7 * predict(body, slow, 32).seconds


def test_what_ptxas_spills_is_told():
    found = predict(launch(LOOP.format("bar.sync 0;")), CARDS["A100"], 255, spilled=96)
    assert "ptxas spills 96 bytes of a thread" in str(found)


def test_accesses_of_local_memory_pass_through_the_cache():
    body = ".local .align 16 .b8 mine[64];\nmov.b64 %d1, mine;\n" + LOOP.format("{} [%d1], {{%t, %t, %t, %t}};")
    local = on_a100(body.replace("{} ", "st.local.v4.b32 ").replace("{{", "{").replace("}}", "}"), 256, 1080)
    assert local.limit == "memory"

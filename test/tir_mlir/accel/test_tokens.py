"""Tokens by which units wait for each other: where they are put and taken, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from programs.systolic import schedule_product, systolic

from tir_mlir import accel, build
from tir_mlir.accel.program import For, Issue, MachineProgram, Node, When
from tir_mlir.errors import IntrinError, MachineError

PAIRS = (("load", "execute"), ("execute", "load"), ("execute", "store"), ("store", "execute"))


def decoupled(depth: int = 4, pairs: tuple[tuple[str, str], ...] = PAIRS) -> accel.Machine:
    """The systolic array, whose units run beside each other and wait by tokens alone; the CPU waits at the end."""
    m = systolic(interlocks="none")
    for one, other in pairs:
        m.tokens(m.units[one], m.units[other], put=f"put_{one}_{other}()", take=f"take_{one}_{other}()", depth=depth)
    m.wait(*m.units.values(), call="finish()", name="finish")
    return m


@pytest.mark.parametrize("ahead", [False, True])
@pytest.mark.parametrize("shape", [(64, 64, 128), (15, 17, 127), (33, 47, 80)])
def test_units_wait_by_tokens(shape: tuple[int, int, int], ahead: bool) -> None:
    m, n, k = shape
    machine = decoupled()
    main = build(schedule_product(machine, m, n, k, (1, 1, 2), ahead), target=machine).main
    rng = np.random.default_rng(0)
    a, b = rng.integers(-128, 128, (m, k), np.int8), rng.integers(-128, 128, (k, n), np.int8)
    c = np.zeros((m, n), np.int8)
    main(a, b, c)
    scaled = (a.astype(np.int32) @ b.astype(np.int32)).astype(np.float32) * np.float32(2.0**-9)
    np.testing.assert_array_equal(c, np.clip(np.round(scaled), 0, 127).astype(np.int8))
    issued = main.timeline.issued
    assert issued["finish"] == 1
    for one, other in PAIRS:
        assert issued[f"put_{one}_to_{other}"] == issued[f"take_{one}_to_{other}"]


def test_conditions_tell_which_iterations_have_a_token() -> None:
    """The first two copies find free planes; the last two products free planes for nobody."""
    machine = decoupled()
    source = build(schedule_product(machine, 64, 64, 128, (2, 2, 2), True), target=machine).main.source
    assert "if (r_0_0 <= 3 && r_0_0 + j_0_0 * 4 + i_0_0 * 8 >= 2) {\n          take_execute_load();" in source
    assert "if (r_0_0 >= 1 && r_0_0 + j_0_0 * 4 + i_0_0 * 8 <= 14) {\n          put_execute_load();" in source


def without(body: list[Node], one: Issue) -> list[Node]:
    return [replace(n, body=without(n.body, one)) if isinstance(n, For | When) else n for n in body if n is not one]


def tokens_of(program: MachineProgram) -> list[Issue]:
    return [n for n in program.nodes() if isinstance(n, Issue) and n.instruction.tokens is not None]


def test_a_missing_token_is_found() -> None:
    machine = decoupled()
    main = build(schedule_product(machine, 32, 32, 64, (2, 2, 1), True), target=machine).main
    arrays = [np.zeros((32, 64), np.int8), np.zeros((64, 32), np.int8), np.zeros((32, 32), np.int8)]
    original = main.placed
    for one in tokens_of(original.program):
        main.placed = replace(original, program=replace(original.program, body=without(original.program.body, one)))
        with pytest.raises(MachineError, match=r"nothing waits for unit|takes a token of \w+, and nothing puts one in"):
            main(*arrays)


def test_a_queue_of_tokens_that_is_too_small_is_not_used() -> None:
    """With one token, loads cannot run two iterations ahead: each put waits for the take before."""
    machine = decoupled(depth=1)
    main = build(schedule_product(machine, 64, 64, 128, (2, 2, 2), False), target=machine).main
    assert main.timeline.issued["put_load_to_execute"] > 0


def test_units_without_a_queue_between_them_use_waits() -> None:
    machine = decoupled(pairs=PAIRS[:1])
    issued = build(schedule_product(machine, 64, 64, 64, (2, 2, 2), True), target=machine).main.timeline.issued
    assert issued["put_load_to_execute"] > 0 and issued["finish"] > 1


def test_a_unit_needs_no_tokens_of_its_own() -> None:
    machine = accel.Machine("m")
    unit = machine.unit("u")
    with pytest.raises(IntrinError, match="unit u executes in order: it needs no tokens of its own"):
        machine.tokens(unit, unit, put="f()", take="g()", depth=1)
    with pytest.raises(IntrinError, match="a queue of tokens holds a positive number of them, not 0"):
        machine.tokens(unit, machine.unit("v"), put="f()", take="g()", depth=0)

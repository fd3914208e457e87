"""A step verifies only what it changed; whatever it changes is verified."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from mlir import ir

from fuzzing.untouched import NotRecorded, check_untouched
from tir_mlir import Schedule
from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.dialect.ir import Block, Index, Loop, all_blocks, edit, enter_context, func_of, ops
from tir_mlir.dialect.verify import rules
from tir_mlir.passes.schedule.registry import PRIMITIVES, primitive
from tir_mlir.schedule.executor import Executor
from tir_mlir.script.parser import parse


def text(count: int) -> str:
    """B = A + count, one nest for each addition."""
    buffers = ["A", *(f"X{n}" for n in range(count - 1)), "B"]
    lines = ["@T.prim_func", 'def main(A: T.Buffer((64, 64), "float32"), B: T.Buffer((64, 64), "float32")):']
    lines += [f'    {name} = T.alloc_buffer((64, 64), "float32")' for name in buffers[1:-1]]
    for number in range(count):
        lines += [
            "    for i, j in T.grid(64, 64):",
            f'        with T.block("b{number}"):',
            '            vi, vj = T.axis.remap("SS", [i, j])',
            f"            {buffers[number + 1]}[vi, vj] = {buffers[number]}[vi, vj] + 1.0",
        ]
    return "\n".join(lines)


def chain(count: int) -> Schedule:
    """A schedule of it, after a first step."""
    sch = Schedule(parse(text(count)))
    sch.unroll(sch.get_loops(f"b{count - 1}")[1])
    return sch


@pytest.fixture
def verified(monkeypatch) -> list[str]:
    """The names of the blocks that the rules are checked for."""
    seen: list[str] = []
    check = rules._check_ops

    def spy(root: ir.Operation) -> list[Block]:
        found = check(root)
        seen.extend(b.name for b in found)
        return found

    monkeypatch.setattr(rules, "_check_ops", spy)
    return seen


@contextmanager
def stepping(run: Callable[[Loop], None], marks: bool = False) -> Iterator[str]:
    """A primitive that exists for a test."""
    primitive("planted", marks=marks)(run)
    try:
        yield "planted"
    finally:
        del PRIMITIVES["planted"]


def planted(sch: Schedule, run: Callable[[Loop], None], at: str = "b1", marks: bool = False) -> None:
    loop = sch.get_loops(at)[0]
    with stepping(run, marks) as name:
        sch._executor.apply(name, loop)


def block_of(loop: Loop, name: str) -> Block:
    return next(b for b in all_blocks(func_of(loop.op).op) if b.name == name)


def test_only_the_edited_nest_is_verified(verified):
    sch = chain(6)
    verified.clear()
    sch.split(sch.get_loops("b2")[1], [None, 8])
    assert verified == ["b2"]


def test_a_new_nest_is_verified(verified):
    sch = chain(4)
    verified.clear()
    sch.cache_read(sch.get_block("b2"), 0, "local")
    assert sorted(verified) == ["X1_local", "b2"]


def test_everything_is_verified_in_the_first_step_of_a_program_that_was_not_verified(verified):
    sch = Schedule(chain(3).mod)
    verified.clear()
    sch.split(sch.get_loops("b1")[1], [None, 8])
    assert verified == ["b0", "b1", "b2"]


def test_a_parsed_program_is_not_verified_again(verified):
    sch = Schedule(parse(text(3)))
    verified.clear()
    sch.split(sch.get_loops("b1")[1], [None, 8])
    assert verified == ["b1"]


def test_a_function_of_a_parsed_program_is_not_verified_again(verified):
    sch = Schedule(parse(text(3))["main"])
    verified.clear()
    sch.split(sch.get_loops("b1")[1], [None, 8])
    assert verified == ["b1"]


def test_a_parsed_program_that_was_edited_is_verified_again():
    mod = parse(text(3))
    with enter_context():
        block = next(b for b in all_blocks(mod.mlir.operation) if b.name == "b2")
        edit.rebind(block.op, [block.bindings[0] + 1, block.bindings[1]])
    sch = Schedule(mod)
    with pytest.raises(ScheduleError, match="iter vi has the domain"):
        sch.split(sch.get_loops("b0")[1], [None, 8])


def test_everything_is_verified_after_a_parameter_changed(verified):
    sch = chain(3)
    verified.clear()
    sch.transform_layout("b0", ("read", 0), lambda i, j: (j, i))
    assert verified == ["b0", "b1", "b2"]


def declare(loop: Loop) -> None:
    """Declare a function, as `tensorize` does for a kernel."""
    kernels = ir.Module.parse("func.func private @kernel()")
    module = func_of(loop.op).op.parent
    edit.clone(kernels.body.operations[0].operation, ir.InsertionPoint(module.regions[0].blocks[0]))


def test_only_the_edited_nest_is_verified_where_a_function_is_declared(verified):
    sch = chain(4)
    verified.clear()
    planted(sch, declare)
    sch.split(sch.get_loops("b2")[1], [None, 8])
    assert verified == ["b2"]


def test_the_version_before_does_not_have_a_declared_function():
    sch = chain(2)
    planted(sch, declare)
    before, after = sch.executor.history[-1].versions
    assert "@kernel" in str(after.module)
    assert str(before.module) == str(chain(2).mod.mlir)


def test_a_step_that_is_refused_after_a_declaration_leaves_the_program():
    def refuse_late(loop: Loop) -> None:
        declare(loop)
        raise ScheduleError("too late")

    sch = chain(2)
    with pytest.raises(ScheduleError, match="too late"):
        planted(sch, refuse_late)
    assert str(sch.mod.mlir) == str(chain(2).mod.mlir)


def test_after_undo_too_only_the_edited_nest_is_verified(verified):
    sch = chain(4)
    sch.split(sch.get_loops("b2")[1], [None, 8])
    sch.undo()
    verified.clear()
    sch.split(sch.get_loops("b1")[1], [None, 8])
    assert verified == ["b1"]


def bound_too_large(loop: Loop) -> None:
    other = Loop(block_of(loop, "b3").op.parent)
    edit.set_bounds(other.op, other.lowers, [Index.constant(65)])


def writer_shortened(loop: Loop) -> None:
    """Nothing reads or writes out of bounds, but half of what b3 reads is never computed."""
    other = Loop(block_of(loop, "b2").op.parent)
    edit.set_bounds(other.op, other.lowers, [Index.constant(32)])


def buffer_shrunk(loop: Loop) -> None:
    func = func_of(loop.op)
    edit.retype(func.allocs[2].value, ir.MemRefType.get([64, 32], ir.F32Type.get()))


def shifted(loop: Loop) -> None:
    block = block_of(loop, "b3")
    edit.rebind(block.op, [block.bindings[0] + 1, block.bindings[1]])


def buffer_moved_behind_its_use(loop: Loop) -> None:
    func = func_of(loop.op)
    edit.move_before(func.allocs[2].op, func.body_ops()[-1])


@pytest.mark.parametrize(
    ("run", "message"),
    [
        (bound_too_large, "iter vj has the domain"),
        (writer_shortened, "never compute"),
        (buffer_shrunk, "is written at index 32"),
        (shifted, "iter vi has the domain"),
        (buffer_moved_behind_its_use, "dominate"),
    ],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_an_edit_of_another_nest_is_noticed(run, message):
    sch = chain(5)
    with pytest.raises(ScheduleError, match=message):
        planted(sch, run)


def test_a_race_in_another_nest_is_noticed():
    sch = chain(5)
    sch.parallel(sch.get_loops("b3")[0])

    def fewer_rows(loop: Loop) -> None:
        other = block_of(loop, "b3")
        edit.rebind(other.op, [other.bindings[1], other.bindings[1]])

    with pytest.raises(ScheduleError, match=r"would depend on each other|never compute"):
        planted(sch, fewer_rows)


def test_a_buffer_that_another_nest_starts_to_read_is_private_no_more():
    """The iterations of the parallel loop share X1; each fills it before it reads it, and nobody else reads it."""
    sch = chain(4)
    sch.compute_at("b1", sch.get_loops("b2")[0])
    sch.transform_layout("b1", ("write", 0), lambda i, j: (i, j))
    sch.parallel(sch.get_loops("b2")[0])

    def spy(loop: Loop) -> None:
        reader, source = block_of(loop, "b3"), block_of(loop, "b1")
        load = next(o for o in ops(reader.op) if o.name == "affine.load")
        store = next(o for o in ops(source.op) if o.name == "affine.store")
        edit.rebind(source.op, [Index.constant(0), source.bindings[1]])
        edit.set_operand(load, 0, store.operands[1])

    with pytest.raises(ScheduleError, match=r"would depend on each other|never compute"):
        planted(sch, spy, at="b0")


def test_an_edit_without_a_record_fails_the_tests():
    sch = chain(5)
    kind = ir.StringAttr

    def secretly(loop: Loop) -> None:
        other = Loop(block_of(loop, "b3").op.parent)
        other.op.attributes["tir.kind"] = kind.get("unrolled")

    with pytest.raises(NotRecorded, match="without a record"):
        planted(sch, secretly)


def test_no_rule_is_checked_again_after_a_step_of_marks(verified):
    sch = chain(3)
    loop = sch.get_loops("b1")[1]
    verified.clear()
    sch.vectorize(loop)
    assert verified == []


def test_a_step_of_marks_that_edits_more_fails_the_tests():
    def shorter(loop: Loop) -> None:
        edit.set_bounds(loop.op, loop.lowers, [Index.constant(32)])

    with pytest.raises(NotRecorded, match="planted edits more than marks"):
        planted(chain(3), shorter, marks=True)


def test_a_snapshot_of_a_block_is_its_users_own_and_as_new_as_its_nest():
    sch = chain(3)
    block = sch.get_block("b1")
    sch.get(block).annotations["mine"] = 1
    sch.annotate(sch.get_block("b2"), "my.note", 2)
    assert sch.get(block).annotations == {}
    sch.annotate(block, "my.note", 3)
    assert sch.get(block).annotations == {"my.note": 3}


def test_steps_are_audited_in_all_tests():
    assert Executor.audit is check_untouched


def test_an_erased_op_whose_place_in_memory_is_used_again_counts_as_edited(verified):
    sch = chain(5)
    verified.clear()

    def rebuilt(loop: Loop) -> None:
        blocks = [block_of(loop, name) for name in ("b1", "b2", "b3")]
        for other in [Loop(b.op.parent.parent) for b in blocks]:
            edit.set_bounds(other.op, other.lowers, other.uppers)

    planted(sch, rebuilt)
    assert sorted(verified) == ["b1", "b2", "b3"]

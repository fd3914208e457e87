"""Cores: the loop over them, and what a program may do with memories of which each core has one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tir_mlir.accel.program import Allocate, For, Issue, MachineBuffer, MachineProgram, Node, walk
from tir_mlir.accel.substitution import Substitution
from tir_mlir.dialect.diagnostics import MachineError
from tir_mlir.dialect.symbolic import Constant, Dim, IntExpr


def loop_over_cores(program: MachineProgram) -> For | None:
    """The loop whose iterations run on the cores of the machine; None if the first core runs all."""
    return next((n for n in program.body if isinstance(n, For) and n.is_over_cores), None)


def check_cores(program: MachineProgram) -> MachineProgram:
    """The program, whose loop over cores is the outermost one, and whose cores use their own memories only.

    Errors: MachineError.
    """
    loops = [n for n in program.nodes() if isinstance(n, For) and n.is_over_cores]
    if not loops:
        return program
    loop = loops[0]
    _check_place(program, loops)
    extent = loop.highs[0] if len(loop.highs) == 1 else None
    if not (isinstance(loop.low, Constant) and isinstance(extent, Constant)):
        raise MachineError(f"loop {loop.var} over the cores does not have a number of iterations that is known")
    if (count := int(extent.value - loop.low.value)) > program.machine.cores:
        raise MachineError(
            f"loop {loop.var} has {count} iterations; {program.machine} has {program.machine.cores} cores; fix: split "
            f"it, [{program.machine.cores}, None], and bind the outer loop"
        )
    if loop.low.value != 0:
        raise MachineError(f"loop {loop.var} over the cores begins at {loop.low.value}, not at 0")
    _check_memories(program, loop)
    return _split_shared(program, loop, count)


def _split_shared(program: MachineProgram, loop: For, count: int) -> MachineProgram:
    """The program in which each core has a part of the buffers in shared memories that its iteration allocates.

    They are alive as long as the program: cores do not wait for each other.
    """
    parts: dict[MachineBuffer, tuple[MachineBuffer, IntExpr]] = {}
    for node in walk(loop.body):
        if isinstance(node, Allocate) and (memory := node.buffer.memory) is not None and memory.is_shared:
            rows = -(-node.buffer.rows // memory.alignment) * memory.alignment
            whole = MachineBuffer(node.buffer.name, (count, rows, memory.width), node.buffer.dtype, memory)
            parts[node.buffer] = whole, Dim(loop.var) * rows
    if not parts:
        return program
    body = [replace(n, body=Substitution(places=parts).body(loop.body)) if n is loop else n for n in program.body]
    return replace(program, body=[*(Allocate(whole) for whole, _ in parts.values()), *body])


def _check_place(program: MachineProgram, loops: Sequence[For]) -> None:
    others = [n for n in program.body if not isinstance(n, Allocate) and n is not loops[0]]
    if loops[0] not in program.body:
        raise MachineError(
            f"loop {loops[0].var} over the cores is inside of another loop; fix: reorder it to the outside, "
            "so that cores are started once"
        )
    if len(loops) > 1:
        raise MachineError(
            f"loops {loops[0].var} and {loops[1].var} are both over the cores, which do not wait for each other; "
            "fix: compute_at or fuse, so that there is one"
        )
    if others:
        raise MachineError(
            f"{_what(others[0])} is beside loop {loops[0].var} over the cores, which do not wait for it; "
            "fix: compute_at moves it into the loop; or make a function of its own of it"
        )


def _what(node: Node) -> str:
    first = next((n for n in walk([node]) if isinstance(n, Issue)), None)
    return str(first.instruction) if first is not None else "a statement"


def _check_memories(program: MachineProgram, loop: For) -> None:
    """Check that each buffer in a memory of a core is allocated by an iteration, so that no other one can reach it."""
    outside = [n.buffer for n in program.body if isinstance(n, Allocate)]
    shared = [n.buffer for n in program.nodes() if isinstance(n, Allocate) and n.buffer.memory is None]
    if shared:
        raise MachineError(
            f"buffer {shared[0].name} is in the memory of the CPU, where all cores of loop {loop.var} would write the "
            "same one; fix: make it a parameter, with a part for each core"
        )
    for buffer in outside:
        if buffer.memory is not None and not buffer.memory.is_shared and _is_used(buffer, loop.body):
            raise MachineError(
                f"iterations of {loop.var}, which run on several cores, use one buffer {buffer.name}; each core has "
                f"a memory {buffer.memory.name} of its own; fix: compute_at {loop.var} for what writes it, or a memory "
                "that is shared"
            )


def _is_used(buffer: MachineBuffer, body: Sequence[Node]) -> bool:
    return any(t.buffer is buffer for n in walk(body) if isinstance(n, Issue) for t in n.tiles.values())


def iterations_by_core(program: MachineProgram) -> list[Sequence[Node]]:
    """What each core runs: the body without the loop over the cores, whose variable is the number of the core."""
    loop = loop_over_cores(program)
    if loop is None:
        return [program.body]
    (end,) = loop.highs
    assert isinstance(end, Constant)
    bodies: list[Sequence[Node]] = []
    for core in range(int(end.value)):
        own = For(loop.var, Constant(core), (Constant(core + 1),), loop.body)
        bodies.append([own if n is loop else n for n in program.body])
    return bodies

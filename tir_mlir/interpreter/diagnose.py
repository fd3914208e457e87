"""Locations of runtime errors: block, loop values, source line; origins of uninitialized values."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import FrameType, TracebackType

from mlir import ir

from tir_mlir.dialect.diagnostics import (
    ArithmeticStop,
    InterpreterError,
    OutOfBoundsError,
    RaceError,
    TirError,
    UnwrittenError,
    color_uncaught,
)
from tir_mlir.dialect.ir import Block, Func, Loop, enter_context, is_block, is_loop, parents
from tir_mlir.dialect.ir.lowering_op_views import AssumeOp, OMPLoopNestOp
from tir_mlir.dialect.ir.op_views import AccessOp, FuncOp, LoopLikeOp, isa
from tir_mlir.interpreter.arena_memory import TypedMemory
from tir_mlir.interpreter.memory import Memory, View
from tir_mlir.interpreter.poison import Poison, PoisonUse

RAISED = (InterpreterError, ZeroDivisionError, IndexError)
"""Exceptions caused by the interpreted program."""


@dataclass(frozen=True)
class Origin:
    """The access that first read an uninitialized element."""

    element: str
    location: StopLocation

    def __str__(self) -> str:
        return f"{self.element}, first read {self.location}"


@dataclass(frozen=True)
class StopLocation:
    """A source line of the program and the values of its variables."""

    op: ir.Operation
    known: Mapping[str, object]
    variables: Mapping[ir.Value, str]

    @property
    def block(self) -> str:
        return next((Block(p).name for p in (self.op, *parents(self.op)) if is_block(p)), "")

    @property
    def function(self) -> str:
        return next((Func(p).name for p in (self.op, *parents(self.op)) if isa(p, FuncOp)), "")

    def values(self) -> tuple[dict[str, int], dict[str, int]]:
        """Enclosing loops, outermost first, and the iters of the block, by name; loops with equal names by their Python
        variables."""
        loops: dict[str, int] = {}
        iters: dict[str, int] = {}
        blocks = 0
        for op in (self.op, *parents(self.op)):
            if is_block(op):
                if not blocks:
                    iters = {it.name: self._value_of(it.var) for it in Block(op).iters if self._has(it.var)}
                blocks += 1
            elif is_loop(op) and self._has(Loop(op).var):
                loops = {self.variables[Loop(op).var]: self._value_of(Loop(op).var), **loops}
            elif isa(op, LoopLikeOp, OMPLoopNestOp):
                variables = op.regions[0].blocks[0].arguments
                for value in [v for v in variables if isinstance(v.type, ir.IndexType) and self._has(v)]:
                    loops = {self.variables[value]: self._value_of(value), **loops}
        return loops, iters

    def _has(self, value: ir.Value) -> bool:
        return isinstance(self.known.get(self.variables.get(value, "")), int)

    def _value_of(self, value: ir.Value) -> int:
        known = self.known[self.variables[value]]
        assert isinstance(known, int)
        return known

    def line(self) -> tuple[str, int] | None:
        """The user's file and line."""
        location = self.op.location
        while location.is_a_name():
            location = location.child_loc
        return (location.filename, location.start_line) if location.is_a_file() else None

    def __str__(self) -> str:
        loops, iters = self.values()
        text = f'in block "{self.block}"' if self.block else f'in function "{self.function}"'
        if loops:
            text += f" at {', '.join(f'{n} = {v}' for n, v in loops.items())}"
        return text + (f" ({', '.join(f'{n} = {v}' for n, v in iters.items())})" if iters else "")


class Diagnoser:
    """Maps frames of the generated text to locations in the program."""

    def __init__(self, filename: str, owners: Sequence[ir.Operation | None], variables: Mapping[ir.Value, str]):
        self.filename = filename
        self.owners = owners
        self.variables = variables
        self.strict = False

    def _find_location(self, frames: Sequence[tuple[FrameType, int]]) -> StopLocation | None:
        """The innermost frame of the program, with the variables of the enclosing frames."""
        stack = [(f, line) for f, line in frames if f.f_code.co_filename == self.filename]
        if not stack:
            return None
        frame_vars: dict[str, object] = {}
        for frame, _ in stack[-1:] if not stack[-1][0].f_code.co_name.endswith("_deep") else stack:
            frame_vars |= frame.f_locals
        op = self.owners[stack[-1][1] - 1]
        return None if op is None else StopLocation(op, frame_vars, self.variables)

    def poison_unwritten(self, view: View, index: Sequence[int]) -> Poison:
        """The poison value of an uninitialized element. Raises UnwrittenError in strict mode."""
        element = f"{view.name}[{', '.join(map(str, index))}]"
        if self.strict:
            error = UnwrittenError(f"{element} is read before it is written", view.name, tuple(index), view.shape)
            error.fix = f"write {view.name} first, in T.init() or in an earlier block"
            raise error
        frames = []
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename != self.filename:
            frame = frame.f_back
        while frame is not None and frame.f_code.co_filename == self.filename:
            frames.insert(0, (frame, frame.f_lineno))
            frame = frame.f_back
        location = self._find_location(frames)
        snapshot = None if location is None else StopLocation(location.op, _numbers(location.known), location.variables)
        return Poison(element if snapshot is None else Origin(element, snapshot))

    def add_location(self, error: BaseException) -> InterpreterError:
        """Add the location to a runtime error."""
        frames = []
        tb: TracebackType | None = error.__traceback__
        while tb is not None:
            frames.append((tb.tb_frame, tb.tb_lineno))
            tb = tb.tb_next
        with enter_context():
            location = self._find_location(frames)
            diagnosis = _as_interpreter_error(error, location)
            return diagnosis if location is None else _with_location(diagnosis, location)


def _numbers(frame_vars: Mapping[str, object]) -> dict[str, int]:
    return {n: v for n, v in frame_vars.items() if type(v) is int}


def _as_interpreter_error(error: BaseException, location: StopLocation | None) -> InterpreterError:
    if isinstance(error, PoisonUse):
        return _uninitialized_use(error, location)
    if isinstance(error, IterationConflict):
        return _race(error, location)
    if isinstance(error, InterpreterError):
        return error
    if isinstance(error, ZeroDivisionError):
        return ArithmeticStop("integer division by zero")
    return OutOfBoundsError("use of memory after memref.dealloc")


def _uninitialized_use(error: PoisonUse, location: StopLocation | None) -> UnwrittenError:
    name = location.op.name if location is not None else ""
    if name in AccessOp.names:
        use = "an index"
    elif name in LoopLikeOp.names:
        use = "a loop bound"
    elif name in AssumeOp.names:
        use = "the condition of T.assume"
    else:
        use = "a branch condition"
    diagnosis = UnwrittenError(f"an uninitialized value is used as {use}{origin_text(error.poison)}")
    diagnosis.fix = "write the buffer before it is read, in T.init() or in an earlier block"
    return diagnosis


def origin_text(poison: Poison) -> str:
    """The origin of a poison value, as text."""
    return "" if poison.origin is None else f": {poison.origin}"


def _race(error: IterationConflict, location: StopLocation | None) -> RaceError:
    """A RaceError, with the index of the element."""
    views = (
        [] if location is None else [location.known.get(location.variables.get(v, "")) for v in location.op.operands]
    )
    view = next((v for v in views if isinstance(v, View) and v.memory.name == error.buffer), None)
    index = (error.at,) if view is None else index_of(view, error.at)
    reason = error.text(f"{error.buffer}[{', '.join(map(str, index))}]")
    diagnosis = RaceError(reason, error.buffer, index, () if view is None else view.shape)
    diagnosis.fix = "make the loop serial, or let each iteration access separate elements"
    return diagnosis


def index_of(view: View, offset: int) -> tuple[int, ...]:
    """The index of an element, from its offset in memory."""
    rem, index = offset - view.offset, [0] * len(view.shape)
    for d in sorted(range(len(view.shape)), key=lambda d: -view.strides[d]):
        index[d], rem = divmod(rem, view.strides[d]) if view.strides[d] and view.shape[d] > 1 else (0, rem)
    return tuple(index)


def _with_location(error: InterpreterError, location: StopLocation) -> InterpreterError:
    loops, iters = location.values()
    error.function, error.block, error.loops = location.function, location.block, {**loops, **iters}
    error.place = location.line()
    color_uncaught(TirError)
    lines = [f"{error.function}: {location}: {error.reason}"]
    if error.place is not None:
        source = linecache.getline(*error.place).strip()
        lines.append(f"  at {error.place[0]}:{error.place[1]}" + (f"\n     {source}" if source else ""))
    if error.fix:
        lines.append(f"  fix: {error.fix}")
    error.args = ("\n".join(lines),)
    return error


# Race detection between iterations of concurrent loops.


class Watch:
    """The accesses of the active concurrent loops: {(memory, offset): [iteration, written, reduction]} per loop."""

    def __init__(self) -> None:
        self.frames: list[tuple[str, tuple[int, ...], str, dict[tuple[int, int], list[int | None]]]] = []
        self.now: list[int] = []

    def enter(self, name: str, private: tuple[View, ...], together: str) -> None:
        """Enter a loop. `private`: buffers used only inside it; an iteration that writes an element first may use it.
        `together`: "threads" of one block, or "lanes", may reduce into one element; lanes also into a reduction
        initialized outside (a negative number: see `memory_ops.reduction`)."""
        self.frames.append((name, tuple([view.memory.number for view in private]), together, {}))
        self.now.append(-1)

    def leave(self) -> None:
        self.frames.pop()
        self.now.pop()

    def touch(self, memory: Memory, offset: int, write: bool, reduction: int) -> None:
        """Record an access. Raises RaceError on a conflict with another iteration."""
        if isinstance(memory, TypedMemory):
            for byte in range(memory.start + offset * memory.width, memory.start + (offset + 1) * memory.width):
                self.touch(memory.arena, byte, write, reduction)
            return
        number = memory.number
        for (name, private, together, seen), iteration in zip(self.frames, self.now, strict=True):
            entry = seen.get((number, offset))
            if entry is None:
                seen[number, offset] = [iteration, write, reduction]
            elif entry[0] == iteration:
                entry[1] = entry[1] or write
                entry[2] = entry[2] if entry[2] == reduction else 0
            elif together and entry[2] == reduction and (reduction > 0 or (reduction and together == "lanes")):
                entry[0], entry[1] = iteration, entry[1] or write
            elif not write and not entry[1]:
                entry[0] = None  # read in several iterations
            elif number in private and write:
                seen[number, offset] = [iteration, True, reduction]
            else:
                raise IterationConflict(memory, offset, write, name, iteration, entry[0])


class IterationConflict(RaceError):
    """A conflict between two iterations; gets its message once the location is known."""

    def __init__(self, memory: Memory, offset: int, write: bool, loop: str, iteration: int, earlier: int | None):
        self.at = offset
        self.what = ("written" if write else "read", loop, iteration, earlier)
        super().__init__("", memory.name)
        self.reason = self.text(f"{memory.name}[{offset}]")

    def text(self, element: str) -> str:
        verb, loop, step, earlier = self.what
        touched = "several" if earlier is None else f"iteration {earlier}"
        return f"{element} is {verb} in iteration {step} of the concurrent loop {loop}, and accessed in {touched} of it"

"""A function of plain blocks -> LLVM IR."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import prod

from tir_mlir.dialect.calls.function_texts import symbol
from tir_mlir.dialect.ir import Func
from tir_mlir.passes.lower.direct.nests import NestWriter, Piece, VectorRegisters
from tir_mlir.passes.lower.direct.program import (
    BranchExpr,
    DirectProgram,
    ElementNest,
    Expression,
    LoadExpr,
    OperationExpr,
    ProgramBuffer,
    loads_of,
    read_program,
)
from tir_mlir.passes.lower.direct.text import Affine, FunctionText, NotDirect
from tir_mlir.passes.lower.memory.allocs import STACK_BUFFER

OPENMP = ("__kmpc_fork_call", "omp_get_thread_num", "omp_get_num_threads")
_DECLARED = """
%ident_t = type { i32, i32, i32, i32, ptr }
@location = private constant [23 x i8] c";unknown;unknown;0;0;;\\00"
@ident = private constant %ident_t { i32 0, i32 2, i32 0, i32 22, ptr @location }
declare void @__kmpc_fork_call(ptr, i32, ptr, ...)
declare i32 @omp_get_thread_num()
declare i32 @omp_get_num_threads()
"""
_HEAP = "declare noalias ptr @aligned_alloc(i64, i64)\ndeclare void @free(ptr)\n"


@dataclass(frozen=True)
class DirectCode:
    """LLVM IR; whether it calls the OpenMP runtime; bytes of buffers on the heap in a call."""

    text: str
    threads: bool
    scratch: int


def direct_code(
    func: Func, symbol: str, threads: int, registers: VectorRegisters, shared_bytes: float = 0
) -> DirectCode:
    """The code of a function of blocks without a schedule, on pointers to its buffers. shared_bytes: what a nest reads
    and writes from which on several threads share it. Errors: NotDirect for another function."""
    return _FunctionWriter(inline_elementwise(read_program(func)), symbol, threads, registers, shared_bytes).write()


def is_direct(func: Func, registers: VectorRegisters) -> bool:
    """Whether the code of a function can be written directly."""
    try:
        direct_code(func, "f", 1, registers)
    except NotDirect:
        return False
    return True


class _FunctionWriter:
    def __init__(
        self, program: DirectProgram, symbol: str, threads: int, registers: VectorRegisters, shared_bytes: float
    ):
        self._program, self._symbol, self._threads, self._shared_bytes = program, symbol, threads, shared_bytes
        self._nests = [NestWriter(nest, registers) for nest in program.nests]
        self._parts: list[str] = []
        self._buffers = [*program.params, *program.own]

    def write(self) -> DirectCode:
        text, heap = FunctionText(), []
        for memory in self._program.own:
            size = (4 * memory.size + 63) // 64 * 64
            if size <= STACK_BUFFER:
                text.slots.append(f"  {memory.name} = alloca [{size} x i8], align 64")
            else:
                text.do(f"{memory.name} = call ptr @aligned_alloc(i64 64, i64 {size})")
                heap.append((memory, size))
        for nest in self._nests:
            for piece in nest.pieces:
                self._piece(text, nest, piece)
        for memory, _ in heap:
            text.do(f"call void @free(ptr {memory.name})")
        params = ", ".join(f"ptr noalias nocapture {memory.name}" for memory in self._program.params)
        main = _function(f"void {symbol(self._symbol)}({params})", text)
        declared = (_DECLARED if self._parts else "") + (_HEAP if heap else "")
        return DirectCode("\n".join([declared, *self._parts, main]), bool(self._parts), sum(size for _, size in heap))

    def _piece(self, text: FunctionText, nest: NestWriter, piece: Piece) -> None:
        steps = nest.steps(piece)
        if self._threads < 2 or steps < 2 or _bytes_moved(nest.nest) < self._shared_bytes:
            with text.loop("0", str(steps), 1) as step:
                nest.write(text, piece, step)
            return
        name = symbol(f"{self._symbol}.nest.{len(self._parts)}")
        inner = FunctionText()
        numbers = [inner.value(f"call i32 @omp_get_{what}()") for what in ("thread_num", "num_threads")]
        thread, count = (inner.value(f"zext i32 {value} to i64") for value in numbers)
        next_thread = inner.value(f"add nuw i64 {thread}, 1")
        first, end = (
            inner.value(f"udiv i64 {inner.value(f'mul nuw i64 {one}, {steps}')}, {count}")
            for one in (thread, next_thread)
        )
        with inner.loop(first, end, 1) as step:
            nest.write(inner, piece, step)
        buffer_names = [memory.name for memory in self._buffers]
        params = ", ".join(["ptr %thread", "ptr %bound", *(f"ptr noalias nocapture {name}" for name in buffer_names)])
        self._parts.append(_function(f"internal void {name}({params})", inner))
        passed = "".join(f", ptr {buffer}" for buffer in buffer_names)
        text.do(
            f"call void (ptr, i32, ptr, ...) @__kmpc_fork_call(ptr @ident, i32 {len(buffer_names)}, ptr {name}{passed})"
        )


def _bytes_moved(nest: ElementNest) -> int:
    """The bytes that a nest reads and writes."""
    return 4 * prod(nest.extents) * (len(set(loads_of(nest.value))) + 1)


def _function(head: str, text: FunctionText) -> str:
    return "\n".join([f"define {head} {{", "entry:", *text.slots, *text.lines, "  ret void", "}"])


def inline_elementwise(program: DirectProgram) -> DirectProgram:
    """The program without its own buffers of elementwise blocks that one other elementwise block reads.

    for i: T[i] = A[i] + B[i];  for i: Y[i] = max(T[i], 0)   ->   for i: Y[i] = max(A[i] + B[i], 0)
    """
    readers = Counter(memory for nest in program.nests for memory in set(loads_of(nest.value)))
    into_sums = {memory for nest in program.nests if nest.sums for memory in loads_of(nest.value)}
    own_memory, nest_of = set(program.own), dict[ProgramBuffer, ElementNest]()
    result = DirectProgram(program.params, [])
    for nest in program.nests:
        new = ElementNest(nest.memory, nest.extents, nest.sums, _inline_loads(nest.value, nest_of, {}), nest.start)
        if new.memory in own_memory and not new.sums and readers[new.memory] == 1 and new.memory not in into_sums:
            nest_of[new.memory] = new
        else:
            result.nests.append(new)
    result.own = [memory for memory in program.own if memory not in nest_of]
    return result


def _inline_loads(
    value: Expression, known: dict[ProgramBuffer, ElementNest], done: dict[int, Expression]
) -> Expression:
    """An expression with what is known for its loads."""
    if id(value) not in done:
        done[id(value)] = _rewrite_loads(value, known, done)
    return done[id(value)]


def _rewrite_loads(
    value: Expression, known: dict[ProgramBuffer, ElementNest], done: dict[int, Expression]
) -> Expression:
    if isinstance(value, LoadExpr) and (nest := known.get(value.memory)) is not None:
        return _substitute_iters(nest.value, value.indices, {})
    if isinstance(value, OperationExpr):
        return OperationExpr(
            value.name, tuple(_inline_loads(part, known, done) for part in value.operands), value.predicate
        )
    if isinstance(value, BranchExpr):
        return BranchExpr(
            value.conditions, _inline_loads(value.then, known, done), _inline_loads(value.otherwise, known, done)
        )
    return value


def _substitute_iters(value: Expression, iters: tuple[Affine, ...], done: dict[int, Expression]) -> Expression:
    """An expression with other expressions for its iters."""
    if id(value) in done:
        return done[id(value)]
    result: Expression = value
    if isinstance(value, LoadExpr):
        result = LoadExpr(value.memory, tuple(index.substitute(iters) for index in value.indices))
    elif isinstance(value, OperationExpr):
        result = OperationExpr(
            value.name, tuple(_substitute_iters(part, iters, done) for part in value.operands), value.predicate
        )
    elif isinstance(value, BranchExpr):
        conditions = tuple((index.substitute(iters), is_zero) for index, is_zero in value.conditions)
        result = BranchExpr(
            conditions, _substitute_iters(value.then, iters, done), _substitute_iters(value.otherwise, iters, done)
        )
    done[id(value)] = result
    return result

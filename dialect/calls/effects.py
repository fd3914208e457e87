"""What a program does to the buffers that it takes: which parameters it reads and which it writes."""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir

from tir_mlir.dialect.calls.callee import CALL, callee_of
from tir_mlir.dialect.ir import Func, attrs, remembered
from tir_mlir.dialect.ir.op_traits import MEMREF_OPERAND, POINTERS, READING, STORES, VIEWS


@dataclass(frozen=True)
class Effect:
    """Whether a program may read, and may write, elements of a buffer that it takes."""

    reads: bool = False
    writes: bool = False

    def __or__(self, effect: Effect) -> Effect:
        return Effect(self.reads or effect.reads, self.writes or effect.writes)


NONE, READS, WRITES, BOTH = Effect(), Effect(reads=True), Effect(writes=True), Effect(True, True)
_ALIASES = VIEWS | POINTERS  # other results are offsets, sizes and strides
_POINTERS = {"r": READS, "w": BOTH, "rw": BOTH}  # kernels that accumulate are often declared as "w"


def effects_of(func: Func) -> tuple[Effect, ...]:
    """The effect on each parameter of a program, calls of other programs included; `NONE` for a scalar."""
    memrefs = [isinstance(arg.type, ir.MemRefType) for arg in func.args]
    return tuple(_effect(func.op, number) if is_memref else NONE for number, is_memref in enumerate(memrefs))


@remembered
def _effect(func: ir.Operation, number: int) -> Effect:
    return _through(Func(func).args[number], ())


def _through(value: ir.Value, callers: tuple[tuple[str, int], ...]) -> Effect:
    """What is done to a buffer by the uses of a value: the buffer itself, a view of it, or a pointer into it."""
    effect = NONE
    for use in value.uses:
        effect |= _of_use(use.owner.operation, use.operand_number, callers)
        if effect == BOTH:
            break
    return effect


def _of_use(op: ir.Operation, number: int, callers: tuple[tuple[str, int], ...]) -> Effect:
    name = op.name
    if name in READING:
        return READS
    if name == "memref.copy":
        return WRITES if number else READS
    if name in STORES:
        return WRITES if number == MEMREF_OPERAND[name] else BOTH
    if name == "memref.dim":
        return NONE
    if name == "llvm.inttoptr" and attrs.ACCESS in op.attributes:
        return _POINTERS[attrs.get(op, attrs.ACCESS)]
    if name in _ALIASES or name.startswith("arith."):
        return _through(op.results[0], callers)
    return _of_call(op, number, callers) if name == CALL else BOTH


def _of_call(op: ir.Operation, number: int, callers: tuple[tuple[str, int], ...]) -> Effect:
    callee = callee_of(op)
    if callee is None or (callee.name, number) in callers:
        return BOTH  # an external function; or a recursive one, which is refused elsewhere
    return _through(callee.args[number], (*callers, (callee.name, number)))

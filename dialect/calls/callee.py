"""Which function a call is of, what that does to the buffers that it takes, and its symbols in compiled code."""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir

from tir_mlir.dialect.ir import Func, attrs, cache_while_frozen, funcs, module_of, ops
from tir_mlir.dialect.ir.op_traits import MEMREF_OPERAND
from tir_mlir.dialect.ir.op_views import CallOp, CopyOp, DimOp, IntToPtrOp, PointerOp, ReadOp, StoreOp, ViewLikeOp, isa

CALL = "func.call"


def callee_of(op: ir.Operation) -> Func | None:
    """The function of the module that a `func.call` calls; None if it has no body there (an external function)."""
    if not isa(op, CallOp):
        return None
    return _functions(module_of(op)).get(callee_name(op))


def callee_name(op: ir.Operation) -> str:
    """The name of the function that a `func.call` calls."""
    return ir.FlatSymbolRefAttr(op.attributes["callee"]).value


def is_program_call(op: ir.Operation) -> bool:
    """Whether an op calls a program of the module."""
    return callee_of(op) is not None


def calls_in(func: Func) -> list[ir.Operation]:
    """The calls of programs of the module in a function."""
    return [op for op in ops(func.op) if is_program_call(op)]


def caller_of(func: Func) -> str | None:
    """The name of a function of the module that calls a program; None if there is none."""
    for caller in funcs(module_of(func.op)):
        if any(callee_name(op) == func.name for op in ops(caller.op) if isa(op, CallOp)):
            return caller.name
    return None


@cache_while_frozen
def _functions(module: ir.Operation) -> dict[str, Func]:
    return {func.name: func for func in funcs(module)}


@dataclass(frozen=True)
class Effect:
    """Whether a program may read, and may write, elements of a buffer that it takes."""

    reads: bool = False
    writes: bool = False

    def __or__(self, effect: Effect) -> Effect:
        return Effect(self.reads or effect.reads, self.writes or effect.writes)


NONE, READS, WRITES, BOTH = Effect(), Effect(reads=True), Effect(writes=True), Effect(True, True)
_ALIASES = ViewLikeOp.names | PointerOp.names  # other results are offsets, sizes and strides
_POINTERS = {"r": READS, "w": BOTH, "rw": BOTH}  # kernels that accumulate are often declared as "w"


def effects_of(func: Func) -> tuple[Effect, ...]:
    """The effect on each parameter of a program, calls of other programs included; `NONE` for a scalar."""
    memrefs = [isinstance(arg.type, ir.MemRefType) for arg in func.args]
    return tuple(_effect(func.op, number) if is_memref else NONE for number, is_memref in enumerate(memrefs))


@cache_while_frozen
def _effect(func: ir.Operation, number: int) -> Effect:
    return _effect_of_uses(Func(func).args[number], ())


def _effect_of_uses(value: ir.Value, callers: tuple[tuple[str, int], ...]) -> Effect:
    """What is done to a buffer by the uses of a value: the buffer itself, a view of it, or a pointer into it."""
    effect = NONE
    for use in value.uses:
        effect |= _effect_of_use(use.owner.operation, use.operand_number, callers)
        if effect == BOTH:
            break
    return effect


def _effect_of_use(op: ir.Operation, number: int, callers: tuple[tuple[str, int], ...]) -> Effect:
    name = op.name
    if name in ReadOp.names:
        return READS
    if name in CopyOp.names:
        return WRITES if number else READS
    if name in StoreOp.names:
        return WRITES if number == MEMREF_OPERAND[name] else BOTH
    if name in DimOp.names:
        return NONE
    if name in IntToPtrOp.names and attrs.ACCESS in op.attributes:
        return _POINTERS[attrs.get(op, attrs.ACCESS)]
    if name in _ALIASES or name.startswith("arith."):
        return _effect_of_uses(op.results[0], callers)
    return _effect_of_call(op, number, callers) if name == CALL else BOTH


def _effect_of_call(op: ir.Operation, number: int, callers: tuple[tuple[str, int], ...]) -> Effect:
    callee = callee_of(op)
    if callee is None or (callee.name, number) in callers:
        return BOTH  # an external function; or a recursive one, which is refused elsewhere
    return _effect_of_uses(callee.args[number], (*callers, (callee.name, number)))


C_INTERFACE = "_mlir_ciface_"
"""The prefix of functions that `llvm.emit_c_interface` makes."""

_BODY = "tir."


def body_symbol(name: str) -> str:
    """The symbol of the code of a function: main -> tir.main. No C function has it, as one named exp would, which the
    code may call. A name with a dot is its own symbol."""
    return name if "." in name else _BODY + name


def function_name(symbol: str) -> str:
    """The function of a symbol of compiled code: main of tir.main and of _mlir_ciface_tir.main."""
    return symbol.removeprefix(C_INTERFACE).removeprefix(_BODY)

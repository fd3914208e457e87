"""Registry of the lowering passes, for `tir-opt` and `lower_to_llvm`."""

from __future__ import annotations

from contextvars import ContextVar

from mlir import ir

from tir_mlir.dialect.ir import Func, attrs, funcs, is_block, walk, warn_at_user
from tir_mlir.dialect.ir.op_views import CallOp, FuncOp, isa
from tir_mlir.passes.module_pass import THREAD as THREAD
from tir_mlir.passes.module_pass import Content as Content
from tir_mlir.passes.module_pass import ModulePass, register_in
from tir_mlir.passes.module_pass import content_of as content_of

LOWERINGS: dict[str, ModulePass] = {}
lowering = register_in(LOWERINGS)


def programs(module: ir.Module) -> list[Func]:
    """The tensor programs of a module: functions with a body, except kernels (private and without an id)."""
    return [f for f in funcs(module) if attrs.ID in f.op.attributes or not is_private(f.op)]


def called_programs(module: ir.Module) -> set[str]:
    """The names of the tensor programs that others of the module call. Each remains a function of its own: inlined, the
    programs of a model would be one function, whose compile time grows faster than its size. A function without blocks
    that is only called in loops is a kernel, which may be inlined there."""
    program_of = {func.name: func for func in programs(module)}
    called: set[str] = set()
    for op in [op for func in program_of.values() for op in walk.ops(func.op) if isa(op, CallOp)]:
        callee = program_of.get(ir.FlatSymbolRefAttr(op.attributes["callee"]).value)
        if callee is not None and (not walk.loops_above(op) or any(is_block(inner) for inner in walk.ops(callee.op))):
            called.add(callee.name)
    return called


def is_private(func: ir.Operation) -> bool:
    """Whether a function has private visibility."""
    if "sym_visibility" not in func.attributes:
        return False
    return ir.StringAttr(func.attributes["sym_visibility"]).value == "private"


def location_text(op: ir.Operation) -> str:
    """The source location of an op for messages: `file.py:12`, or the op's name and function if unknown."""
    location = op.location
    while location.is_a_name():
        location = location.child_loc
    if location.is_a_file():
        return f"{location.filename}:{location.start_line}"
    return f"{op.name} in {_function_name(op)}"


def _function_name(op: ir.Operation) -> str:
    for parent in walk.parents(op):
        if isa(parent, FuncOp):
            return f"@{ir.StringAttr(parent.attributes['sym_name']).value}"
    return "the module"


# a build records its warnings, to repeat them on a cache hit
RECORDED_WARNINGS: ContextVar[list[str] | None] = ContextVar("RECORDED_WARNINGS", default=None)


class LoweringWarning(UserWarning):
    """The result is correct, but slower than the program asked for, or by a built-in kernel instead of the user's."""

    def __init__(self, *args: object):
        super().__init__(*args)
        recorded = RECORDED_WARNINGS.get()
        if recorded is not None:
            recorded.append(str(self))


def warn(text: str) -> None:
    """Emit a LoweringWarning at the user's line."""
    warn_at_user(text, LoweringWarning)

"""The code of a unit that is written directly, without passes of MLIR."""

from __future__ import annotations

from mlir import ir

from tir_mlir.code_units.lowering import code_target
from tir_mlir.dialect.diagnostics import InternalError
from tir_mlir.dialect.ir import attrs, funcs
from tir_mlir.passes.lower.direct.affine import NotDirect
from tir_mlir.passes.lower.direct.code import direct_code
from tir_mlir.passes.lower.direct.nests import Registers
from tir_mlir.runtime.drivers import jit, openmp
from tir_mlir.runtime.llvm import object_code
from tir_mlir.target import Target, host


def compiled_directly(text: str, symbol: str, wanted: Target | None) -> jit.Compiled:
    """Compile the function of a module, whose text this is. wanted: the CPU that it is for, None for this one."""
    module = ir.Module.parse(text)
    (func,) = (func for func in funcs(module) if func.name == symbol)
    cpu = wanted or host()
    registers = Registers.of(cpu.vector_bits, cpu.registers)
    try:
        code = direct_code(func, symbol, attrs.get(func.op, attrs.DIRECT), registers)
    except NotDirect as error:  # it was asked before the function got its attribute
        raise InternalError(f"{symbol} cannot be written directly: {error}") from error
    target = None if wanted is None else code_target(wanted)
    data = object_code.compile_text(code.text, object_code.DIRECT_PASSES, target)
    libs = [openmp.openmp()] if code.threads else []
    return jit.Compiled(data, [len(data)], libs, False, [], code.scratch)

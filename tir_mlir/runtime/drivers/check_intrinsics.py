"""Check the calls of LLVM's intrinsics in a program before it is compiled: LLVM aborts on one that a CPU lacks."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable

from mlir import ir

from tir_mlir import processes
from tir_mlir.dialect.diagnostics import BuildError, ToolError
from tir_mlir.dialect.ir import llvm_intrinsics, walk
from tir_mlir.dialect.ir.op_views import ConstantOp, isa
from tir_mlir.runtime.cache import store
from tir_mlir.runtime.cache.fingerprint import installation
from tir_mlir.runtime.llvm import object_code
from tir_mlir.runtime.llvm.llvm_c import address_of, find_llvm, llvm, message
from tir_mlir.runtime.tools import clang_codegen, toolchain

_KIND = "intrinsics"
_CHILD = """
from tir_mlir.runtime.llvm import object_code as code
code.compile_text(sys.stdin.read(), wanted=code.LLVMTarget(*(a.encode() for a in sys.argv[1:])))
"""


def check_intrinsics(module: ir.Module, target: object_code.LLVMTarget | None) -> None:
    """Raise BuildError for a call of an unknown intrinsic, with other types than its own, or that the CPU lacks.

    target: default this machine. Each call is compiled alone, in a child process if its result is not known.
    """
    calls = [op for op in walk.ops(module.operation) if op.name == llvm_intrinsics.CALL]
    if not calls or find_llvm() is None:
        return
    for op in calls:
        why = _fault(_isolate_call(op), target or object_code.target())
        if why:
            raise BuildError(f'{_location_prefix(op)}the intrinsic "{llvm_intrinsics.name_of(op)}": {why}')


def _location_prefix(op: ir.Operation) -> str:
    location = op.location
    return f"{location.filename}:{location.start_line}: " if location.is_a_file() else ""


def _isolate_call(op: ir.Operation) -> str:
    """A module with one function, which makes the call; constants are kept, as an instruction may have them in it."""
    parameters, body, names = [], [], []
    for number, value in enumerate(op.operands):
        constant = value.owner
        if isinstance(constant, ir.Block) or not isa(constant, ConstantOp):
            parameters.append(f"%v{number}: {value.type}")
        else:
            body.append(f"  %v{number} = llvm.mlir.constant({constant.attributes['value']}) : {value.type}")
        names.append(f"%v{number}")
    type_ = op.results[0].type
    types = ", ".join(str(v.type) for v in op.operands)
    name = llvm_intrinsics.name_of(op)
    body.append(f'  %r = llvm.call_intrinsic "{name}"({", ".join(names)}) : ({types}) -> {type_}')
    lines = [f"llvm.func @call({', '.join(parameters)}) -> {type_} {{", *body, f"  llvm.return %r : {type_}", "}"]
    return "\n".join(lines)


@functools.cache
def _fault(text: str, target: object_code.LLVMTarget) -> str:
    """What is wrong with a call for a target; "" if nothing is."""
    key = store.digest("intrinsic", text, *(getattr(target, k) for k in ("triple", "cpu", "features")), installation())
    if store.load(_KIND, key) is not None:
        return ""
    code, complaints = _translate_to_llvm(text)
    if complaints or not code:
        part = "an argument that is a part of the instruction must be a constant"
        return complaints or f"LLVM does not accept this call (the reason is on stderr); {part}"
    why = _compile_in_child(code, target)
    if not why:
        store.save(_KIND, key, b"")
    return why


def _translate_to_llvm(text: str) -> tuple[str, str]:
    """Translate a module to LLVM IR; the error message if that fails."""
    messages: list[str] = []
    module = ir.Module.parse(text)
    handler = module.context.attach_diagnostic_handler(lambda d: messages.append(d.message) or True)
    try:
        with object_code.context() as context:
            llvm_module = _translate()(address_of(module.operation), context)
            code = message(llvm().LLVMPrintModuleToString(llvm_module)) if llvm_module else ""
    finally:
        handler.detach()
    messages = [s for s in messages if not s.startswith("LLVM Translation failed")]
    return code, "; ".join(_reword_message(s) for s in messages)


@functools.cache
def _translate() -> Callable[[int, int], int | None]:
    """The translation, holding the lock of Python, which the handler of diagnostics needs."""
    address = ctypes.cast(llvm().mlirTranslateModuleToLLVMIR, ctypes.c_void_p).value
    prototype = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
    return prototype(address or 0)


def _reword_message(text: str) -> str:
    if text.startswith("could not find LLVM intrinsic"):
        return "LLVM has no intrinsic of this name"
    return text


def _compile_in_child(code: str, target: object_code.LLVMTarget) -> str:
    """Compile LLVM IR in a child process: a missing instruction ends the process."""
    triple, cpu, features = (part.decode() for part in (target.triple, target.cpu, target.features))
    none = f"the CPU {cpu} ({triple}) has no instruction for it; build for a target that has it, or use arithmetic"
    if not object_code.has_generator(target.triple):
        try:
            clang_codegen.compile_ir(code, triple, cpu, features)
        except BuildError as error:
            return none if "select" in str(error) else str(error)
        return ""
    try:
        words = [f"-mtriple={triple}", f"-mcpu={cpu}", f"-mattr={features}", "-filetype=null", "-O0"]
        done = toolchain.attempt("llc", words, input=code)
    except ToolError:  # llc is not installed
        child = processes.Python(_CHILD, (triple, cpu, features))
        done = processes.run(child, input=code, capture_output=True, text=True)
    if not done.returncode:
        return ""
    if "select" in done.stderr or "LLVM ERROR" in done.stderr or done.returncode < 0:
        return none
    return done.stderr.strip()[:500]

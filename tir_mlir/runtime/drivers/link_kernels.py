"""Resolve and link the external functions that a program calls.

`resolve` looks up each declared function that the program calls: first in LLVM IR of a `pragma_import_llvm`
annotation, then in the shared libraries of the build, the registered kernels, and the process itself (the C library).
`define` puts the code into the lowered module, where it can be inlined.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from mlir import ir

from tir_mlir.dialect.diagnostics import BuildError
from tir_mlir.dialect.ir import attrs, visit
from tir_mlir.dialect.ir.lowering_op_views import ComdatOp, GlobalCtorsOp, LLVMFuncOp, LLVMGlobalOp
from tir_mlir.dialect.ir.op_views import CallOp, FuncOp, isa
from tir_mlir.runtime.cache.store import cached_text
from tir_mlir.runtime.call.function import PREFIX
from tir_mlir.runtime.drivers import shared_libraries
from tir_mlir.runtime.drivers.clang import without_target
from tir_mlir.runtime.kernels.registry import Builder, find_kernel, known_kernels, needed_by, stands_in
from tir_mlir.runtime.llvm.llvm_kernels import LlvmText
from tir_mlir.runtime.tools import files, toolchain
from tir_mlir.target.host import features

PRAGMA = "pragma_import_llvm"
_REGISTERED = "the registered kernel"
_LAYOUT = re.compile(r'^target datalayout = "([^"]*)"', re.MULTILINE)


@dataclass
class LinkedKernel:
    """The definition of a symbol: the module with its llvm.func, or LLVM IR that LLVM links; and its origin."""

    symbol: str
    module: ir.Module | LlvmText
    origin: str

    @property
    def type(self) -> str:
        """The type of the function, as MLIR writes it."""
        if isinstance(self.module, LlvmText):
            return self.module.functions[self.symbol]
        definition = _find(self.module, self.symbol)
        assert definition is not None
        return str(ir.TypeAttr(definition.attributes["function_type"]).value)


def resolve(
    module: ir.Module,
    libs: Sequence[str] = (),
    has: Collection[str] | None = None,
    elsewhere: bool = False,
    small_pointers: bool = False,
) -> tuple[dict[str, LinkedKernel], list[str], list[str]]:
    """The kernels to link into the lowered `module`, the symbols left to libraries or the process, and a warning for
    each built-in kernel that runs where the author of the program has brought, or is to bring, one.

    The import annotations of `module` are removed (their text is long).
    has: the instruction sets of the CPU, default this machine's. elsewhere: the code will not run in this process, so
    undefined symbols are left to the linker. small_pointers: addresses have 32 bits, so LLVM IR for others is refused.
    Raises BuildError for a symbol without definition and for a definition with another signature.
    """
    imported = [import_llvm(text, small_pointers) for text in _take_annotations(module)]
    kernels: dict[str, LinkedKernel] = {}
    others: list[str] = []
    for declaration in _declarations(module):
        symbol = _name(declaration)
        kernel = _imported_kernel(symbol, imported) or _registered_kernel(
            symbol, libs, features() if has is None else has
        )
        if kernel is not None:
            _check_signature(declaration, kernel)
            kernels[symbol] = kernel
        elif not elsewhere and not shared_libraries.is_defined(_linked_name(declaration), libs):
            raise BuildError(_undefined_symbol_message(declaration, imported))
        else:
            others.append(symbol)
    return kernels, others, _replacement_warnings(kernels, imported)


def _replacement_warnings(kernels: dict[str, LinkedKernel], imported: Sequence[ir.Module | LlvmText]) -> list[str]:
    """The text of a warning for each built-in kernel that runs instead of the author's: the imported code defines no
    function that the program calls, or there is none."""
    defined = defined_names(imported)
    built_in = [symbol for symbol, kernel in kernels.items() if kernel.origin == _REGISTERED]
    if imported and not any(symbol in kernels and kernels[symbol].origin != _REGISTERED for symbol in defined):
        return [_misnamed_kernel_warning(symbol, defined) for symbol in built_in]
    return [
        f"the program calls {symbol!r} and brings no code for it: the built-in kernel {symbol!r} runs instead of it; "
        f'sch.annotate(loop, "{PRAGMA}", create_llvm(source)) runs your own, '
        f"and `with built_in_kernel({symbol!r}):` of tir_mlir.runtime.kernels around the build says that it is meant"
        for symbol in built_in
        if stands_in(symbol)
    ]


def _misnamed_kernel_warning(symbol: str, defined: Sequence[str]) -> str:
    """The warning that a built-in kernel runs, as the imported code does not define a function of its name."""
    listed = ", ".join(map(repr, defined)) or "no function"
    near = difflib.get_close_matches(symbol, defined, 1)
    mangled = next((name for name in defined if name.startswith("_Z") and symbol in name), None)
    fix = f"rename the function of the source to {symbol}" if near else f"name a function of the source {symbol}"
    if mangled is not None:
        fix = f'declare it extern "C": {mangled} is the name that C++ gives {symbol}'
    return (
        f"the program calls {symbol!r}, but the code of {PRAGMA} defines {listed}: "
        f"the built-in kernel {symbol!r} runs instead of it; {fix}"
    )


def defined_names(imported: Sequence[ir.Module | LlvmText]) -> list[str]:
    """The functions that modules in the llvm dialect, or texts of LLVM IR, define."""
    return [
        name
        for part in imported
        for name in (part.functions if isinstance(part, LlvmText) else _defined_functions(part))
    ]


def _linked_name(declaration: ir.OpView) -> str:
    """The symbol that calls of a function need: with a C interface, they go through that."""
    through_c = "llvm.emit_c_interface" in declaration.attributes
    return f"{PREFIX}{_name(declaration)}" if through_c else _name(declaration)


def define(lowered: ir.Module, kernels: dict[str, LinkedKernel]) -> None:
    """Replace declarations in a module in the llvm dialect by internal, always-inline definitions."""
    for kernel in kernels.values():
        if isinstance(kernel.module, LlvmText):
            continue
        symbols = {_name(op): op for op in lowered.body.operations if "sym_name" in op.attributes}
        definition = _find(kernel.module, kernel.symbol)
        if definition is None or kernel.symbol not in symbols:
            continue  # moved with another kernel of its module, or not called
        if _has_body(symbols[kernel.symbol]):
            continue
        symbols.pop(kernel.symbol).operation.erase()
        for op in list(kernel.module.body.operations):
            _move(op, lowered, symbols)


def in_llvm(kernels: dict[str, LinkedKernel]) -> list[tuple[str, list[str]]]:
    """The kernels that LLVM links: texts of LLVM IR, each with the functions that are called in it."""
    by_text: dict[str, list[str]] = {}
    for kernel in kernels.values():
        if isinstance(kernel.module, LlvmText):
            by_text.setdefault(kernel.module.text, []).append(kernel.symbol)
    return list(by_text.items())


def import_llvm(text: str, small_pointers: bool = False) -> ir.Module | LlvmText:
    """Import LLVM IR (text, or the path of a .ll file) into the llvm dialect; without mlir-translate, return the LLVM
    IR itself. Raises BuildError."""
    if "\n" not in text.strip():
        content = files.text_of(text.strip())
        if content is None:
            raise BuildError(f"{PRAGMA}: {text[:80]!r} is neither LLVM IR text nor a .ll file that exists")
        text = content
    layout = _LAYOUT.search(text)
    if small_pointers and layout is not None and "-p:32:" not in layout[1]:
        raise BuildError(
            f"{PRAGMA}: this LLVM IR is for 64-bit addresses, and the target has 32-bit ones; "
            'fix: create_llvm(source, target="wasm_simd")'
        )
    portable = without_target(text)
    try:
        tool = toolchain.find("mlir-translate")
    except toolchain.MissingTool:
        return LlvmText(portable)
    source = cached_text("ll", [portable, tool.path], lambda: _translate(portable))
    return ir.Module.parse(source)


def _translate(text: str) -> str:
    try:
        patience = 20 + len(text) / 1e5  # seconds: the importer loops on some malformed texts
        return toolchain.run("mlir-translate", ["--import-llvm"], input=text, timeout=patience)
    except toolchain.ToolError as error:
        raise BuildError(f"{PRAGMA}: this LLVM IR cannot be read (create_llvm makes it from C):\n{error}") from error


def _take_annotations(module: ir.Module) -> list[str]:
    pragmas: dict[str, None] = {}

    def look(op: ir.Operation) -> ir.WalkResult:
        if attrs.ANNOTATIONS in op.attributes:
            annotations = op.attributes[attrs.ANNOTATIONS]
            if isinstance(annotations, ir.DictAttr) and PRAGMA in annotations:
                pragmas[attrs.from_attr(annotations[PRAGMA])] = None
                remaining = {named.name: named.attr for named in annotations if named.name != PRAGMA}
                op.attributes[attrs.ANNOTATIONS] = ir.DictAttr.get(remaining)
        return ir.WalkResult.ADVANCE

    visit(module.operation, look)
    return list(pragmas)


def _declarations(module: ir.Module) -> list[ir.OpView]:
    """The func.func operations without a body that are called."""
    called: set[str] = set()

    def look(op: ir.Operation) -> ir.WalkResult:
        if isa(op, CallOp):
            called.add(ir.FlatSymbolRefAttr(op.attributes["callee"]).value)
        return ir.WalkResult.ADVANCE

    visit(module.operation, look)
    functions = [op for op in module.body.operations if isa(op.operation, FuncOp)]
    return [
        op for op in functions if not _has_body(op) and _name(op) in called and attrs.UNIT not in op.attributes
    ]  # the code of a unit is not looked for


def _imported_kernel(symbol: str, modules: Sequence[ir.Module | LlvmText]) -> LinkedKernel | None:
    for module in modules:
        if symbol in (module.functions if isinstance(module, LlvmText) else _defined_functions(module)):
            return LinkedKernel(symbol, module, f"the LLVM IR annotated as {PRAGMA}")
    return None


def _registered_kernel(symbol: str, libs: Sequence[str], has: Collection[str]) -> LinkedKernel | None:
    builder = find_kernel(symbol)
    if builder is None or any(shared_libraries.has(lib, symbol) for lib in libs):
        return None
    missing = [f for f in needed_by(symbol) if f not in has]
    if missing:
        raise BuildError(
            f"the kernel of {symbol!r} uses {', '.join(missing)}, which the target CPU lacks; "
            "schedule and build for the same target"
        )
    module = _build_kernel(builder, symbol)
    if _find(module, symbol) is None:
        defined = ", ".join(_name(op) for op in module.body.operations if "sym_name" in op.attributes) or "nothing"
        raise BuildError(f"the kernel registered for {symbol!r} defines no llvm.func of that name; it made: {defined}")
    return LinkedKernel(symbol, module, _REGISTERED)


def kernel_text(builder: Builder, symbol: str) -> str:
    """The MLIR text emitted by the builder of a symbol. Raises BuildError if it does not verify."""
    return str(_build_kernel(builder, symbol))


def _build_kernel(builder: Builder, symbol: str) -> ir.Module:
    module = ir.Module.create()
    try:
        with ir.InsertionPoint(module.body):
            builder()
        module.operation.verify()
    except ir.MLIRError as error:  # pyright: ignore[reportAttributeAccessIssue]
        raise BuildError(f"the kernel registered for {symbol!r} is not valid MLIR: {error}") from error
    return module


def _check_signature(declaration: ir.OpView, kernel: LinkedKernel) -> None:
    called_type = _function_type(declaration)
    kernel_type = kernel.type
    results = [str(t) for t in called_type.results] or ["void"]
    expected = f"!llvm.func<{results[0]} ({', '.join(_llvm_name(t) for t in called_type.inputs)})>"
    if kernel_type != expected:
        raise BuildError(
            f"kernel {kernel.symbol!r} has another signature than the program's calls:\n"
            f"  called as    {expected}\n  {kernel.origin} is {kernel_type}\n"
            "Change the arguments of the call_extern or those of the kernel."
        )


def _llvm_name(t: ir.Type) -> str:
    return "ptr" if str(t) == "!llvm.ptr" else str(t)


def _undefined_symbol_message(declaration: ir.OpView, imported: Sequence[ir.Module | LlvmText]) -> str:
    symbol, t = _name(declaration), _function_type(declaration)
    inputs = ", ".join(str(x) for x in t.inputs)
    results = ", ".join(str(x) for x in t.results) or "void"
    defined = defined_names(imported)
    lines = [f"no code for the external function {symbol!r}, called as ({inputs}) -> {results}. Give it one of these:"]
    lines += [
        f'  C source:        sch.annotate(loop, "{PRAGMA}", create_llvm(source))'
        + (f" (the annotated text defines: {', '.join(defined)})" if defined else ""),
        f"  MLIR:            register_kernel({symbol!r}, builder) of tir_mlir.runtime.kernels"
        f" (registered: {', '.join(known_kernels())})",
        '  a shared object: build(mod, libs=["/path/to/lib.so"])',
    ]
    return "\n".join(lines)


def _move(op: ir.OpView, lowered: ir.Module, symbols: dict[str, ir.OpView]) -> None:
    """Move an op of a kernel's module into `lowered`: definitions become internal, known declarations are dropped."""
    if isa(op, GlobalCtorsOp) and len(ir.ArrayAttr(op.attributes["ctors"])):
        raise BuildError(f"{PRAGMA}: the C++ kernel has static constructors, which are not run; use constants")
    if "sym_name" not in op.attributes or isa(op, ComdatOp):
        return  # module flags, idents, comdats: not needed for internal symbols
    name, declared = _name(op), symbols.get(_name(op))
    if declared is not None:
        if not _has_body(op) and isa(op, LLVMFuncOp):
            return
        if isa(declared, LLVMFuncOp) and not _has_body(declared):
            declared.operation.erase()
        else:
            _rename(op, symbols)
    op.operation.detach_from_parent()
    lowered.body.append(op)
    symbols[_name(op)] = op
    if isa(op, LLVMFuncOp) and _has_body(op):
        _make_local(op)
        if name == _name(op) and not any(key in op.attributes for key in ("no_inline", "optimize_none")):
            op.attributes["always_inline"] = ir.UnitAttr.get()
    elif isa(op, LLVMGlobalOp) and (_has_body(op) or "value" in op.attributes):
        _make_local(op)


def _make_local(op: ir.OpView) -> None:
    op.attributes["linkage"] = ir.Attribute.parse("#llvm.linkage<internal>")
    # LLVM asserts that an internal symbol has no comdat and default visibility
    if "comdat" in op.attributes:
        del op.attributes["comdat"]
    if "visibility_" in op.attributes:  # reset, not deleted: printing an op without this property crashes
        op.attributes["visibility_"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 0)


def _rename(op: ir.OpView, symbols: dict[str, ir.OpView]) -> None:
    """Rename private symbols that clash: two kernels may both define `.str` or a static helper."""
    name = _name(op)
    fresh = next(f"{name}.{i}" for i in range(1, len(symbols) + 2) if f"{name}.{i}" not in symbols)
    root = op.operation.parent
    assert root is not None
    ir.SymbolTable.replace_all_symbol_uses(name, fresh, root)
    ir.SymbolTable.set_symbol_name(op, fresh)


def _find(module: ir.Module, symbol: str) -> ir.OpView | None:
    for op in module.body.operations:
        if isa(op, LLVMFuncOp) and _name(op) == symbol and _has_body(op):
            return op
    return None


def _defined_functions(module: ir.Module) -> list[str]:
    return [_name(op) for op in module.body.operations if isa(op, LLVMFuncOp) and _has_body(op)]


def _has_body(op: ir.OpView) -> bool:
    return any(len(region.blocks) for region in op.operation.regions)


def _name(op: ir.OpView) -> str:
    return ir.StringAttr(op.attributes["sym_name"]).value if "sym_name" in op.attributes else ""


def _function_type(op: ir.OpView) -> ir.FunctionType:
    return ir.FunctionType(ir.TypeAttr(op.attributes["function_type"]).value)

"""Code generation: a module in the llvm dialect, or LLVM IR text, to an object file in memory.

A large module is compiled in parts, by threads: the functions of its nests need nothing of each other. Linkage says
which functions LLVM compiles once, and what an object file shows to the linker.
"""

from __future__ import annotations

import ctypes
import functools
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from math import gcd

from mlir import ir

from tir_mlir.dialect.calls import body_symbol, function_name
from tir_mlir.dialect.diagnostics import BuildError
from tir_mlir.dialect.ir import attrs
from tir_mlir.runtime.llvm.llvm_c import address_of, error, llvm, message, reraise_from_callback, set_up
from tir_mlir.runtime.timing import Clock
from tir_mlir.target import assumed_cpu
from tir_mlir.target.host import cores, machine_architecture, machine_features
from tir_mlir.target.instruction_sets import AVOIDED
from tir_mlir.target.llvm_names import corrected_cpu

EXTERNAL, INTERNAL = 0, 8  # LLVMLinkage
_WEAK_ODR, _HIDDEN = 6, 1  # LLVMLinkage, LLVMVisibility
_FUNCTION_INDEX = 0xFFFFFFFF


def name_of(value: int) -> str:
    """The name of a function or variable."""
    return llvm().LLVMGetValueName2(value, ctypes.byref(ctypes.c_size_t())).decode()


def defined_symbols(module: int | ctypes.c_void_p, kind: str) -> Iterator[int]:
    """The functions ("Function") or variables ("Global") that a module defines."""
    value = getattr(llvm(), f"LLVMGetFirst{kind}")(module)
    while value:
        if not llvm().LLVMIsDeclaration(value):
            yield value
        value = getattr(llvm(), f"LLVMGetNext{kind}")(value)


def _without_avoided(llvm_target: LLVMTarget, module: int | ctypes.c_void_p) -> LLVMTarget:
    """A target without the instruction sets of `AVOIDED` whose intrinsics a module does not call."""
    avoided = AVOIDED.get(llvm_target.cpu.decode(), {})
    called = list(_declared_functions(module)) if avoided else []
    sets = [s for s, begin in avoided.items() if not any(name.startswith(begin) for name in called)]
    return replace(llvm_target, features=b",".join([llvm_target.features, *(f"-{s}".encode() for s in sets)]))


def keep_single(module: int | ctypes.c_void_p, context: int, prefix: str, names: Iterable[str]) -> None:
    """Let LLVM inline each function only into its C interface, the function `prefix` + name.

    The function becomes internal. LLVM would otherwise copy it into the C interface and into the entries that call
    this, and optimize each copy.
    """
    for name in names:
        body, entry = (llvm().LLVMGetNamedFunction(module, n.encode()) for n in (body_symbol(name), prefix + name))
        if body and entry and not llvm().LLVMIsDeclaration(body):
            llvm().LLVMSetLinkage(body, INTERNAL)
            add_attribute(entry, context, "noinline")


def add_attribute(function: int, context: int, name: str) -> None:
    """Add an attribute without a value to a function."""
    kind = llvm().LLVMGetEnumAttributeKindForName(name.encode(), len(name))
    llvm().LLVMAddAttributeAtIndex(function, _FUNCTION_INDEX, llvm().LLVMCreateEnumAttribute(context, kind, 0))


def show_only(module: int | ctypes.c_void_p, names: Collection[str], libcalls: Collection[str]) -> None:
    """Make all that a module defines internal but `names`. What code generation itself may call, `libcalls`, remains
    hidden and weak: several objects that have it are linked."""
    for value in (*defined_symbols(module, "Function"), *defined_symbols(module, "Global")):
        name = name_of(value)
        if name in libcalls:
            llvm().LLVMSetLinkage(value, _WEAK_ODR)
            llvm().LLVMSetVisibility(value, _HIDDEN)
        elif name not in names and not name.startswith("llvm."):
            llvm().LLVMSetLinkage(value, INTERNAL)


LEAST_PART = 32
"""Functions of nests in a part: below, a thread costs more than it gains."""
MOST = 8
"""Parts of a module."""
WHOLE_MODULE_PASSES = b"always-inline,globaldce,deadargelim"
"""Passes on the whole module: afterwards the signatures of its functions are fixed."""
PART_PASSES = b"elim-avail-extern,globaldce,default<O3>"
"""Passes on a part: its declarations first, then as for a whole module."""
_AVAILABLE_EXTERNALLY, _PRIVATE = 1, 9  # LLVMLinkage
_LOCAL = (INTERNAL, _PRIVATE)


def count_parts(module: int | ctypes.c_void_p) -> int:
    """In how many parts to compile a module: 1 unless it has many functions of nests, and can be divided."""
    nests = sum(map(_is_nest, defined_symbols(module, "Function")))
    parts = min(cores(), nests // LEAST_PART, MOST)
    return parts if parts > 1 and _is_divisible(module) else 1


def _is_divisible(module: int | ctypes.c_void_p) -> bool:
    """Whether parts of a module can share what it defines. A variable with a name that others see is defined by one
    part; a local one would be a different variable in each."""
    api, length = llvm(), ctypes.c_size_t()
    if api.LLVMGetFirstGlobalAlias(module) or api.LLVMGetFirstGlobalIFunc(module):
        return False
    api.LLVMGetModuleInlineAsm(module, ctypes.byref(length))
    if length.value:
        return False
    linkages = (EXTERNAL, *_LOCAL)
    if any(api.LLVMGetLinkage(f) not in linkages for f in defined_symbols(module, "Function")):
        return False
    return all(
        api.LLVMGetLinkage(v) in linkages
        and not api.LLVMIsThreadLocal(v)
        and (api.LLVMIsGlobalConstant(v) or api.LLVMGetLinkage(v) == EXTERNAL)
        for v in defined_symbols(module, "Global")
    )


def bitcode(module: int | ctypes.c_void_p) -> bytes:
    """The bitcode of a module whose functions of nests are visible to other parts."""
    for function in defined_symbols(module, "Function"):
        if _is_nest(function):
            llvm().LLVMSetLinkage(function, EXTERNAL)
    buffer = llvm().LLVMWriteBitcodeToMemoryBuffer(module)
    try:
        return ctypes.string_at(llvm().LLVMGetBufferStart(buffer), llvm().LLVMGetBufferSize(buffer))
    finally:
        llvm().LLVMDisposeMemoryBuffer(buffer)


def read_bitcode(context: int, data: bytes) -> ctypes.c_void_p:
    """Bitcode -> a module of the context."""
    buffer = llvm().LLVMCreateMemoryBufferWithMemoryRangeCopy(data, len(data), b"tir_mlir")
    module = ctypes.c_void_p()
    failed = llvm().LLVMParseBitcodeInContext2(context, buffer, ctypes.byref(module))
    llvm().LLVMDisposeMemoryBuffer(buffer)
    if failed:
        raise BuildError("the bitcode of the lowered module cannot be read back")
    return module


def keep_part(module: ctypes.c_void_p, number: int, parts: int) -> None:
    """Make declarations, once AFTER ran, of what other parts define. The first part defines all that is not a nest."""
    nest = 0
    for function in defined_symbols(module, "Function"):
        owner = 0
        if _is_nest(function):
            owner, nest = nest % parts, nest + 1
        if owner != number:
            _declare(function)
    if number:
        for variable in defined_symbols(module, "Global"):
            _declare(variable)


def _declare(value: int) -> None:
    if llvm().LLVMGetLinkage(value) == EXTERNAL:
        llvm().LLVMSetLinkage(value, _AVAILABLE_EXTERNALLY)


def _is_nest(function: int) -> bool:
    return attrs.NEST_MARK in name_of(function)


_NONE, _AGGRESSIVE, _PIC, _DEFAULT_MODEL, _RETURN_STATUS = 0, 3, 2, 0, 2
_ASSEMBLY, _OBJECT = 0, 1
_UNREACHABLE = 7
LIGHT_PASSES = b"always-inline,globaldce,default<O1>"
DIRECT_PASSES = b"function(sroa,early-cse)"
OPTIMIZE = b"always-inline,globaldce,deadargelim,default<O3>"  # inline kernels before optimizing them
NO_PASSES = b""
_Handler = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)


@dataclass(frozen=True)
class LLVMTarget:
    """Triple, CPU and features to generate code for, in LLVM's spelling."""

    triple: bytes
    cpu: bytes
    features: bytes


@functools.cache
def target() -> LLVMTarget:
    """The target of the host: this machine, or the CPU that TIR_HOST names, if this machine runs its code. Its name
    is LLVM's, unless the instruction sets contradict it."""
    names = ("LLVMGetDefaultTargetTriple", "LLVMGetHostCPUName", "LLVMGetHostCPUFeatures")
    machine = LLVMTarget(*(message(getattr(llvm(), name)()).encode() for name in names))
    cpu = assumed_cpu()
    if cpu is None:
        name = corrected_cpu(machine.cpu.decode(), machine_architecture(), machine_features())
        return replace(machine, cpu=name.encode())
    return LLVMTarget(machine.triple, cpu.cpu.encode(), cpu.llvm_features.encode())


def compile_module(
    module: ir.Module,
    extra: str,
    clock: Clock,
    llvm_target: LLVMTarget | None = None,
    passes: bytes = OPTIMIZE,
    link: Callable[[int, int], None] = lambda llvm_module, context: None,
    parts: bool = False,
) -> list[bytes]:
    """Compile a module in the llvm dialect, with `extra` LLVM IR linked in, to an object file for `llvm_target`,
    default this machine; with `parts`, a large module to several. `passes`: the LLVM pass pipeline; NO_PASSES for code
    that runs once. `link` links more into the LLVM module, given the module and its context. Raises BuildError."""
    with context() as llvm_context:
        with clock("translate"):
            llvm_module = _translate_module(module, extra, link, llvm_context)
        with clock("compile"):
            number = count_parts(llvm_module) if parts and passes == OPTIMIZE else 1
            if number > 1:
                return _compile_parts(llvm_module, llvm_target or target(), number)
            return [_compile(llvm_module, passes, llvm_target or target(), _AGGRESSIVE if passes else _NONE)]


def assembly_of(module: ir.Module, llvm_target: LLVMTarget, clock: Clock, passes: bytes) -> str:
    """The assembly of a module in the llvm dialect, optimized for a target. Raises BuildError."""
    with context() as llvm_context:
        with clock("translate"):
            llvm_module = _translate_module(module, "", lambda llvm_module, context: None, llvm_context)
            mark_convergent(llvm_module, llvm_context)
        with clock("compile"):
            return _compile(llvm_module, passes, llvm_target, output=_ASSEMBLY).decode()


def mark_convergent(llvm_module: int, context: int) -> None:
    """Mark inline assembly as `convergent`: what all threads of a GPU run together, LLVM does not move into branches
    that some of them take. The dialects of MLIR cannot say it."""
    api, kind = llvm(), llvm().LLVMGetEnumAttributeKindForName(b"convergent", len("convergent"))
    attribute = api.LLVMCreateEnumAttribute(context, kind, 0)
    for function in defined_symbols(llvm_module, "Function"):
        block = api.LLVMGetFirstBasicBlock(function)
        while block:
            instruction = api.LLVMGetFirstInstruction(block)
            while instruction:
                if api.LLVMIsACallInst(instruction) and api.LLVMIsAInlineAsm(api.LLVMGetCalledValue(instruction)):
                    api.LLVMAddCallSiteAttribute(instruction, _FUNCTION_INDEX, attribute)
                instruction = api.LLVMGetNextInstruction(instruction)
            block = api.LLVMGetNextBasicBlock(block)


def named_assembly(module: ir.Module, llvm_target: LLVMTarget, link: Callable[[int, int], None]) -> tuple[str, str]:
    """The optimized LLVM IR of a module in the llvm dialect, all of its blocks with names, and the assembly of it,
    whose comments tell the loop and the block of the IR that each label is of. Raises BuildError."""
    with context() as llvm_context:
        llvm_module = _translate_module(module, "", link, llvm_context)
        with _prepare_module(llvm_module, llvm_target, _AGGRESSIVE) as machine:
            _optimize(llvm_module, OPTIMIZE + b",function(instnamer)", machine)
            _check_defined(llvm_module)
            llvm_module = _without_single_lanes(llvm_module, OPTIMIZE, machine)
            text = message(llvm().LLVMPrintModuleToString(llvm_module))
            llvm().LLVMSetTargetMachineAsmVerbosity(machine, 1)
            try:
                return text, _emit(llvm_module, machine, _ASSEMBLY).decode()
            finally:
                llvm().LLVMSetTargetMachineAsmVerbosity(machine, 0)


def llvm_ir(module: ir.Module, link: Callable[[int, int], None]) -> str:
    """The LLVM IR of a module in the llvm dialect, with what `link` links into it. Raises BuildError."""
    with context() as llvm_context:
        return message(llvm().LLVMPrintModuleToString(_translate_module(module, "", link, llvm_context)))


def _translate_module(module: ir.Module, extra: str, link: Callable[[int, int], None], llvm_context: int) -> int:
    llvm_module = llvm().mlirTranslateModuleToLLVMIR(address_of(module.operation), llvm_context)
    if not llvm_module:
        raise BuildError("the lowered module cannot be translated to LLVM IR (the reason is on stderr)")
    add(llvm_module, llvm_context, extra)
    link(llvm_module, llvm_context)
    return llvm_module


def add(llvm_module: int | ctypes.c_void_p, llvm_context: int, text: str) -> None:
    """Link LLVM IR into a module of the context. Raises BuildError."""
    if llvm().LLVMLinkModules2(llvm_module, parse(llvm_context, text)):
        raise BuildError("a support function cannot be linked to the lowered module")


def _compile_parts(llvm_module: int, llvm_target: LLVMTarget, number: int) -> list[bytes]:
    """Compile a module in parts, each by a thread with a context of its own."""
    from concurrent.futures import ThreadPoolExecutor  # few builds need it

    with _prepare_module(llvm_module, llvm_target, _AGGRESSIVE) as machine:
        _optimize(llvm_module, WHOLE_MODULE_PASSES, machine)
    data = bitcode(llvm_module)

    def part(n: int) -> bytes:
        with context() as llvm_context:
            mine = read_bitcode(llvm_context, data)
            keep_part(mine, n, number)
            return _compile(mine, PART_PASSES, llvm_target)

    with ThreadPoolExecutor(number) as pool:
        return list(pool.map(part, range(number)))


def compile_text(text: str, passes: bytes = NO_PASSES, wanted: LLVMTarget | None = None) -> bytes:
    """Compile LLVM IR text to an object file for `wanted`, default this machine."""
    with context() as llvm_context:
        return _compile(parse(llvm_context, text), passes, wanted or target())


def compile_texts(texts: Sequence[str]) -> bytes:
    """Compile several texts of LLVM IR to one object file for this machine."""
    with context() as llvm_context:
        llvm_module = parse(llvm_context, texts[0])
        for text in texts[1:]:
            add(llvm_module, llvm_context, text)
        return _compile(llvm_module, OPTIMIZE, target())


@contextmanager
def context() -> Iterator[int]:
    """An LLVM context whose diagnostics raise BuildError (by default LLVM exits the process)."""
    complaints: list[str] = []

    def hear(info: int, _: int) -> None:
        if llvm().LLVMGetDiagInfoSeverity(info) == 0:
            complaints.append(message(llvm().LLVMGetDiagInfoDescription(info)))

    handler = _Handler(hear)
    llvm_context = llvm().LLVMContextCreate()
    try:
        llvm().LLVMContextSetDiagnosticHandler(llvm_context, handler, None)
        with reraise_from_callback(hear):
            yield llvm_context
    finally:
        llvm().LLVMContextDispose(llvm_context)  # and all of its modules
    if complaints:
        raise BuildError("the lowered module cannot be compiled: " + "; ".join(complaints))


def parse(context: int, text: str) -> ctypes.c_void_p:
    """LLVM IR -> a module of the context. Raises BuildError."""
    data = text.encode()
    buffer = llvm().LLVMCreateMemoryBufferWithMemoryRangeCopy(data, len(data), b"tir_mlir")
    llvm_module, why = ctypes.c_void_p(), ctypes.c_void_p()
    if llvm().LLVMParseIRInContext(context, buffer, ctypes.byref(llvm_module), ctypes.byref(why)):
        raise BuildError(f"LLVM IR cannot be read: {message(why.value)}")
    return llvm_module


@contextmanager
def _prepare_module(llvm_module: int | ctypes.c_void_p, llvm_target: LLVMTarget, level: int) -> Iterator[int]:
    """The code generator for a valid module, which gets its target."""
    with _borrow_machine(_without_avoided(llvm_target, llvm_module), level) as machine, ExitStack() as cleanup:
        layout = llvm().LLVMCreateTargetDataLayout(machine)
        cleanup.callback(llvm().LLVMDisposeTargetData, layout)
        llvm().LLVMSetTarget(llvm_module, llvm_target.triple)
        llvm().LLVMSetModuleDataLayout(llvm_module, layout)
        why = ctypes.c_void_p()
        if llvm().LLVMVerifyModule(llvm_module, _RETURN_STATUS, ctypes.byref(why)):
            raise BuildError(f"the lowered module is not valid LLVM IR: {message(why.value)}")
        message(why.value)
        yield machine


_idle: dict[tuple[LLVMTarget, int], list[int]] = {}
"""Code generators that no thread uses: making one takes longer than compiling a small program."""


@contextmanager
def _borrow_machine(llvm_target: LLVMTarget, level: int) -> Iterator[int]:
    """A code generator for one thread. After an error it is not used again."""
    idle = _idle.setdefault((llvm_target, level), [])
    try:
        machine = idle.pop()
    except IndexError:
        machine = _machine(llvm_target, level)
    try:
        yield machine
    except BaseException:
        llvm().LLVMDisposeTargetMachine(machine)
        raise
    idle.append(machine)


def _compile(
    llvm_module: int | ctypes.c_void_p,
    passes: bytes,
    llvm_target: LLVMTarget,
    level: int = _AGGRESSIVE,
    output: int = _OBJECT,
) -> bytes:
    with _prepare_module(llvm_module, llvm_target, level) as machine:
        if passes:
            _optimize(llvm_module, passes, machine)
            _check_defined(llvm_module)
        return _emit(_without_single_lanes(llvm_module, passes, machine), machine, output)


def _emit(llvm_module: int | ctypes.c_void_p, machine: int, output: int) -> bytes:
    """The object file or the assembly of a module."""
    buffer, why = ctypes.c_void_p(), ctypes.c_void_p()
    if llvm().LLVMTargetMachineEmitToMemoryBuffer(
        machine, llvm_module, output, ctypes.byref(why), ctypes.byref(buffer)
    ):
        raise BuildError(f"the lowered module cannot be compiled: {message(why.value)}")
    try:
        return ctypes.string_at(llvm().LLVMGetBufferStart(buffer), llvm().LLVMGetBufferSize(buffer))
    finally:
        llvm().LLVMDisposeMemoryBuffer(buffer)


def _without_single_lanes(llvm_module: int | ctypes.c_void_p, passes: bytes, machine: int) -> int | ctypes.c_void_p:
    """The optimized module, or one without masked stores of one lane instead of it."""
    if not any(name.startswith(MASKED_STORE) for name in _declared_functions(llvm_module)):
        return llvm_module
    if not passes:
        _optimize(llvm_module, b"function(instsimplify)", machine)  # masks of constants are constants then
    text = message(llvm().LLVMPrintModuleToString(llvm_module))
    right = store_single_lanes(text)
    return llvm_module if right == text else parse(llvm().LLVMGetModuleContext(llvm_module), right)


def _declared_functions(module: int | ctypes.c_void_p) -> Iterator[str]:
    """The names of the functions that a module declares."""
    function = llvm().LLVMGetFirstFunction(module)
    while function:
        if llvm().LLVMIsDeclaration(function):
            yield name_of(function)
        function = llvm().LLVMGetNextFunction(function)


def _optimize(llvm_module: int | ctypes.c_void_p, passes: bytes, machine: int) -> None:
    options = llvm().LLVMCreatePassBuilderOptions()
    for name in ("LoopVectorization", "LoopInterleaving", "LoopUnrolling"):
        getattr(llvm(), f"LLVMPassBuilderOptionsSet{name}")(options, 1)
    failed = error(llvm().LLVMRunPasses(llvm_module, passes, machine, options))
    llvm().LLVMDisposePassBuilderOptions(options)
    if failed:
        raise BuildError(f"LLVM's passes failed: {failed}")


def _check_defined(llvm_module: int | ctypes.c_void_p) -> None:
    """Raise BuildError for a function that was optimized to nothing (ORC aborts on a symbol without code)."""
    function = llvm().LLVMGetFirstFunction(llvm_module)
    while function:
        name = llvm().LLVMGetValueName2(function, ctypes.byref(ctypes.c_size_t())).decode()
        public = llvm().LLVMGetLinkage(function) == EXTERNAL or attrs.NEST_MARK in name
        if public and not llvm().LLVMIsDeclaration(function):
            first = llvm().LLVMGetFirstInstruction(llvm().LLVMGetEntryBasicBlock(function))
            if llvm().LLVMGetInstructionOpcode(first) == _UNREACHABLE:
                program = function_name(name).split(attrs.NEST_MARK)[0]
                raise BuildError(
                    f"{program} has undefined behavior in every run, so that LLVM removed it:"
                    " check its kernels (an integer overflow, a null pointer)"
                )
        function = llvm().LLVMGetNextFunction(function)


def has_generator(triple: bytes) -> bool:
    """Whether the LLVM of this process has a code generator for a triple."""
    generator, why = ctypes.c_void_p(), ctypes.c_void_p()
    set_up(triple.decode().split("-")[0])
    failed = llvm().LLVMGetTargetFromTriple(triple, ctypes.byref(generator), ctypes.byref(why))
    message(why.value)
    return not failed


def _machine(llvm_target: LLVMTarget, level: int) -> int:
    generator, why = ctypes.c_void_p(), ctypes.c_void_p()
    set_up(llvm_target.triple.decode().split("-")[0])
    if llvm().LLVMGetTargetFromTriple(llvm_target.triple, ctypes.byref(generator), ctypes.byref(why)):
        raise BuildError(f"LLVM has no code generator for {llvm_target.triple.decode()}: {message(why.value)}")
    return llvm().LLVMCreateTargetMachine(
        generator, llvm_target.triple, llvm_target.cpu, llvm_target.features, level, _PIC, _DEFAULT_MODEL
    )


# LLVM IR without masked stores of one lane, of which LLVM 22.1 makes wrong code. The last rewrite before the code
# generator: masks become constants when loops are unrolled.


MASKED_STORE = "llvm.masked.store."
_STORE = re.compile(
    r"^(?P<indent> *)(?:(?:tail|musttail|notail) )?call void @llvm\.masked\.store\.\S+\("
    r"<(?P<lanes>\d+) x i(?P<bits>\d+)> (?P<value>%[-\w.$]+|%\"[^\"]*\"), "
    r"ptr (?P<facts>(?:(?!getelementptr|inttoptr|addrspacecast|null|undef|poison)[a-z_]+(?:\(\d+\)| \d+)? )*)"
    r"(?P<pointer>\S.*), "
    r"<(?P=lanes) x i1> <(?P<mask>i1 [^>]*)>\)(?: #\d+)?(?P<metadata>(?:, ![^,]+)*)$",
    re.MULTILINE,
)


def store_single_lanes(text: str) -> str:
    """Store the one lane of each masked store of integers whose mask is a constant with one lane.

        call void @llvm.masked.store.v4i8.p0(<4 x i8> %t, ptr align 4 %p, <4 x i1> <i1 false, i1 true, ...>)
            -->
        %lane = extractelement <4 x i8> %t, i64 1
        %slot = getelementptr i8, ptr %p, i64 1
        store i8 %lane, ptr %slot, align 1

    LLVM 22.1 joins a truncation and a masked store, and then replaces one lane by a store of the wide element: on CPUs
    with AVX-512 the elements behind are overwritten (llvm/llvm-project#179489). Masks with other numbers of lanes,
    masked loads, gathers, scatters, compressing stores and expanding loads are right.
    """
    found = 0

    def scalar(match: re.Match[str]) -> str:
        nonlocal found
        lanes = [n for n, bit in enumerate(match["mask"].split(", ")) if bit == "i1 true"]
        if len(lanes) != 1:
            return match[0]
        (lane,), bits, indent = lanes, int(match["bits"]), match["indent"]
        name, found = f"%tir.lane.{found}", found + 1
        given = re.search(r"align (\d+)", match["facts"])
        align = gcd(int(given[1]), lane * bits // 8) if given else 1
        return (
            f"{indent}{name} = extractelement <{match['lanes']} x i{bits}> {match['value']}, i64 {lane}\n"
            f"{indent}{name}.slot = getelementptr i{bits}, ptr {match['pointer']}, i64 {lane}\n"
            f"{indent}store i{bits} {name}, ptr {name}.slot, align {align}{match['metadata']}"
        )

    return _STORE.sub(scalar, text)

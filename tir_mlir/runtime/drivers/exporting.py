"""Libraries as files for C programs: an object file or libraries, and a header."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from mlir import ir

from tir_mlir.dialect.diagnostics import BuildError, short_repr
from tir_mlir.dialect.ir import clone_module, enter_context
from tir_mlir.dialect.ir.lowering_op_views import LLVMFuncOp
from tir_mlir.dialect.ir.op_views import isa
from tir_mlir.runtime.call.signature import CallSignature
from tir_mlir.runtime.drivers import aot, c_entry, jit, shared_libraries, vector_length
from tir_mlir.runtime.drivers.compiled_code import LoweredProgram
from tir_mlir.runtime.llvm import llvm_c
from tir_mlir.runtime.llvm.llvm_kernels import link_kernels
from tir_mlir.runtime.llvm.object_code import LLVMTarget, has_generator, llvm_ir
from tir_mlir.runtime.tools import c_tools, clang_codegen, files
from tir_mlir.target import Target

SUFFIXES = (".so", ".a", ".o", ".h")


@dataclass(frozen=True)
class Exporter:
    """Writes the files of a library.

    symbols: the `global_symbol` of functions that have one.
    program: what is compiled (for another CPU with the test of the length of its registers).
    libs: the shared libraries that the code may call.
    cpu: None for this machine.
    by_tools: the object file is made by LLVM's tools, as the library was.
    """

    signatures: Sequence[CallSignature]
    symbols: Mapping[str, str]
    program: Callable[[], LoweredProgram]
    libs: Sequence[str]
    cpu: Target | None = None
    by_tools: bool = False

    def write(self, path: Path, name: str | None = None) -> list[Path]:
        """Write the file of a path, by its suffix, and what goes with it; see `Library.export`. Returns the paths."""
        if path.suffix not in SUFFIXES:
            raise BuildError(f"{path.name} has no suffix of a library for C; fix: one of {', '.join(SUFFIXES)}")
        if path.suffix == ".so" and self.cpu is not None:
            raise BuildError(
                f"{path.name}: a shared library for {self.cpu.arch} needs a linker for it; fix: export an object file, "
                f"{path.stem}.o, or a static library, {path.stem}.a, and link that"
            )
        with enter_context():
            program = self.program()
            c_entries = c_entry.entries(self.signatures, self.symbols, path.stem, name)
            header = path.with_suffix(".h")
            tests = [] if self.cpu is None else [vector_length.c_function(self.cpu, c_entry.identifier(path.stem))]
            text = c_entry.header(c_entries, path.stem, program.sites, [test for test in tests if test])
            contents = {header: text.encode()}
            if path.suffix != ".h":
                contents = self._code(path, program, c_entries) | contents
        files.write_whole(contents)
        return list(contents)

    def needed_libraries(self) -> list[str]:
        """The shared libraries that the code calls."""
        with enter_context():
            return self._libraries(self.program())

    def _libraries(self, program: LoweredProgram) -> list[str]:
        return jit.needed_libraries(program.module, self.libs, program.kernels)

    def _code(self, path: Path, program: LoweredProgram, c_entries: Sequence[c_entry.CEntry]) -> dict[Path, bytes]:
        """The contents of the files of code."""
        module = clone_module(program.module)
        threads = self.cpu is None or not self.cpu.is_bare
        names = c_entry.add_entries(module, c_entries, program.sites, threads)
        if not threads:
            _keep_loops(module)
        data = self._object(module, program, names)
        if path.suffix == ".o":
            return {path: data}
        c_tools.require(f"a library ({path.suffix})")
        with files.folder() as folder:
            obj, result = Path(folder, f"{path.stem}.o"), Path(folder, f"result{path.suffix}")
            files.write_whole({obj: data})
            if path.suffix == ".a":
                c_tools.archive([str(obj)], result)
                return {path: result.read_bytes()}
            libs = self._libraries(program)
            runtime = shared_libraries.bundled_libraries(libs)
            c_tools.link_shared([str(obj)], str(result), libs, names, runtime)
            copies = {path.with_name(file.name): file.read_bytes() for file in runtime.values()}
            return {path: result.read_bytes(), path.with_suffix(".o"): data, **copies}

    def _object(self, module: ir.Module, program: LoweredProgram, names: Sequence[str]) -> bytes:
        if self.cpu is not None:
            return _for_other_cpu(self.cpu, module, program.kernels, names)
        if self.by_tools or llvm_c.find_llvm() is None:
            return _merge_objects(aot.objects_by_tools(module, program))
        clock = lambda _: nullcontext()  # noqa: E731
        data = jit.compile_for_c(module, names, clock, None, program.low_precision, program.kernels)
        return _merge_objects([data, *aot.permission(program.needs)])


def _keep_loops(module: ir.Module) -> None:
    """Forbid LLVM to make calls of a C library, such as memset, of loops."""
    for op in module.body.operations:
        if isa(op, LLVMFuncOp) and len(op.operation.regions[0].blocks):
            op.attributes["passthrough"] = ir.ArrayAttr.get([ir.StringAttr.get("no-builtins")])


def _for_other_cpu(
    cpu: Target, module: ir.Module, kernels: Sequence[tuple[str, list[str]]], names: Sequence[str]
) -> bytes:
    target = LLVMTarget(cpu.triple.encode(), cpu.cpu.encode(), cpu.llvm_features.encode())
    if has_generator(target.triple):
        return jit.compile_for_c(module, names, lambda _: nullcontext(), target, None, kernels)
    text = llvm_ir(module, partial(link_kernels, kernels=kernels))
    return clang_codegen.compile_ir(text, cpu.triple, cpu.cpu, cpu.llvm_features)


def _merge_objects(objects: Sequence[bytes]) -> bytes:
    """One object file of several."""
    if len(objects) == 1:
        return objects[0]
    with files.folder() as folder:
        parts = {Path(folder, f"{n}.o"): data for n, data in enumerate(objects)}
        files.write_whole(dict(parts))
        result = Path(folder, "merged.o")
        c_tools.merge(list(map(str, parts)), result)
        return result.read_bytes()


def check_path(path: object) -> Path:
    """A path of a user. Raises BuildError for what is none."""
    if not isinstance(path, (str, Path)):
        raise BuildError(f"export takes a path, not {short_repr(path)}")
    return Path(path)


def check_suffix(path: Path, name: str | None, suffix: str, what: str) -> None:
    """Refuse a name, and all suffixes but one, for code of a GPU, `what`. Raises BuildError."""
    if path.suffix != suffix or name is not None:
        request = f"the name {name!r}" if path.suffix == suffix else f"a file {path.suffix or 'without a suffix'}"
        raise BuildError(f'{path.name}: {request} is not for {what}; fix: lib.export("{path.stem}{suffix}")')

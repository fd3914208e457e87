"""Cross compilation: an object file that is exported, not run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NoReturn

from mlir import ir

from tir_mlir.dialect.diagnostics import BuildError
from tir_mlir.dialect.ir import entered
from tir_mlir.runtime.call.function import PREFIX
from tir_mlir.runtime.call.signature import CallSignature
from tir_mlir.runtime.drivers import vector_length, wasm
from tir_mlir.runtime.drivers.lowered_program import LoweredProgram
from tir_mlir.runtime.llvm.llvm_kernels import link_kernels
from tir_mlir.runtime.llvm.object_code import LLVMTarget, compile_module, has_generator, llvm_ir
from tir_mlir.runtime.tools import clang_codegen, files, toolchain
from tir_mlir.target import Target


class CrossObject:
    """The code of a module in the llvm dialect for `target`, compiled when it is asked for: an exported object file has
    functions for C, so it is not this one. `hindrance`: why the code does not run here.

    Only the C interface is visible: a function named `main` must not clash with the linking program's.
    """

    def __init__(
        self,
        program: LoweredProgram,
        signatures: Sequence[CallSignature],
        cpu: Target,
        target: LLVMTarget,
        hindrance: str,
        clock: Callable[[str], Any],
    ):
        self._signatures, self._cpu, self._target, self._hindrance = list(signatures), cpu, target, hindrance
        lowered, self._sites = program.module, program.sites
        for op in lowered.body.operations:
            defined = op.operation.name == "llvm.func" and len(op.operation.regions[0].blocks)
            if defined and not ir.StringAttr(op.attributes["sym_name"]).value.startswith(PREFIX):
                op.attributes["linkage"] = ir.Attribute.parse("#llvm.linkage<internal>")
        vector_length.guard(lowered, cpu)
        self._lowered, self._clock, self._link = lowered, clock, partial(link_kernels, kernels=program.kernels)

    def functions(self, signatures: Sequence[CallSignature]) -> dict[str, Any]:
        triple = self._target.triple.decode()
        return {s.name: CrossCompiledFunction(s, triple, self._hindrance) for s in signatures}

    def assembly(self) -> str:
        """The machine code, disassembled; clang's assembly where MLIR's LLVM has no such target."""
        if not has_generator(self._target.triple):
            return self._by_clang(clang_codegen.ASSEMBLY).decode()
        options = ["-d", "--no-show-raw-insn", f"--mattr={self._target.features.decode()}"]
        with files.holding(self._data, ".o") as path:
            return toolchain.run("llvm-objdump", [*options, path])

    @cached_property
    def _data(self) -> bytes:
        """The object file."""
        if not has_generator(self._target.triple):
            with self._clock("compile"):
                return self._by_clang(clang_codegen.OBJECT)
        with entered():
            (data,) = compile_module(self._lowered, "", self._clock, self._target, link=self._link)
        return data

    def _by_clang(self, output: str) -> bytes:
        triple, cpu, features = (f.decode() for f in (self._target.triple, self._target.cpu, self._target.features))
        with entered():
            text = llvm_ir(self._lowered, self._link)
        return clang_codegen.compile_ir(text, triple, cpu, features, output)

    def export_wasm(self, path: Path) -> list[Path]:
        """Write the WebAssembly module, and beside it a JavaScript loader (.js). Returns the two paths."""
        if self._cpu.arch != "wasm32":
            raise BuildError(
                f'{path.name}: this code is for {self._cpu.arch}; fix: build(..., target="wasm_simd").export("f.wasm")'
            )
        results = [path, path.with_suffix(".js")]
        script = wasm.loader(self._signatures, path.name, self._sites)
        contents = wasm.link(self._data, self._signatures, bool(self._sites)), script.encode()
        files.write_whole(dict(zip(results, contents, strict=True)))
        return results


class CrossCompiledFunction:
    """A function compiled for another machine; calling it raises."""

    def __init__(self, signature: CallSignature, triple: str, hindrance: str):
        self.signature, self._triple, self._hindrance = signature, triple, hindrance

    def __repr__(self) -> str:
        return f"<{self.signature} for {self._triple}>"

    def __call__(self, *args: Any, **options: Any) -> NoReturn:
        written = 'lib.export("f.o") writes it, with a C header'
        if self._triple.startswith("wasm32"):
            written = 'lib.export("f.wasm") writes it, with a JavaScript loader'
        raise BuildError(
            f"{self.signature.name} was built for {self._triple}, which this machine cannot run: "
            f"{self._hindrance}; {written}"
        )

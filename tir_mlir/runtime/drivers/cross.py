"""Cross compilation: object files and WebAssembly modules, which are exported, not run.

A WebAssembly module is linked from the object file, and gets a JavaScript loader.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import NoReturn

from mlir import ir

from tir_mlir.dialect.diagnostics import RECORD, BuildError, CheckedSite
from tir_mlir.dialect.ir import enter_context
from tir_mlir.dialect.ir.lowering_op_views import LLVMFuncOp
from tir_mlir.dialect.ir.op_traits import OPS
from tir_mlir.dialect.ir.op_views import isa
from tir_mlir.runtime.call.function import PREFIX
from tir_mlir.runtime.call.signature import BufferDim, BufferParam, CallSignature, ProgramFunction, ScalarParam
from tir_mlir.runtime.drivers import vector_length
from tir_mlir.runtime.drivers.compiled_code import CompiledCode, LoweredProgram
from tir_mlir.runtime.llvm.llvm_kernels import link_kernels
from tir_mlir.runtime.llvm.object_code import LLVMTarget, compile_module, has_generator, llvm_ir
from tir_mlir.runtime.timing import Clock
from tir_mlir.runtime.tools import clang_codegen, files, toolchain
from tir_mlir.target import Target


class CrossObject(CompiledCode):
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
        clock: Clock,
    ):
        self._signatures, self._cpu, self._target, self._hindrance = list(signatures), cpu, target, hindrance
        lowered, self._sites = program.module, program.sites
        for op in lowered.body.operations:
            defined = isa(op, LLVMFuncOp) and len(op.operation.regions[0].blocks)
            if defined and not ir.StringAttr(op.attributes["sym_name"]).value.startswith(PREFIX):
                op.attributes["linkage"] = ir.Attribute.parse("#llvm.linkage<internal>")
        vector_length.guard(lowered, cpu)
        self._lowered, self._clock, self._link = lowered, clock, partial(link_kernels, kernels=program.kernels)

    def functions(self, signatures: Sequence[CallSignature]) -> dict[str, ProgramFunction]:
        triple = self._target.triple.decode()
        return {s.name: CrossCompiledFunction(s, triple, self._hindrance) for s in signatures}

    def assembly(self) -> str:
        """The machine code, disassembled; clang's assembly where MLIR's LLVM has no such target."""
        if not has_generator(self._target.triple):
            return self._by_clang(clang_codegen.ASSEMBLY).decode()
        options = ["-d", "--no-show-raw-insn", f"--mattr={self._target.features.decode()}"]
        with files.temporary_file(self._data, ".o") as path:
            return toolchain.run("llvm-objdump", [*options, path])

    @cached_property
    def _data(self) -> bytes:
        """The object file."""
        if not has_generator(self._target.triple):
            with self._clock("compile"):
                return self._by_clang(clang_codegen.OBJECT)
        with enter_context():
            (data,) = compile_module(self._lowered, "", self._clock, self._target, link=self._link)
        return data

    def _by_clang(self, output: str) -> bytes:
        triple, cpu, features = (f.decode() for f in (self._target.triple, self._target.cpu, self._target.features))
        with enter_context():
            text = llvm_ir(self._lowered, self._link)
        return clang_codegen.compile_ir(text, triple, cpu, features, output)

    def export_wasm(self, path: Path) -> list[Path]:
        """Write the WebAssembly module, and next to it a JavaScript loader (.js). Returns the two paths."""
        if self._cpu.arch != "wasm32":
            raise BuildError(
                f'{path.name}: this code is for {self._cpu.arch}; fix: build(..., target="wasm_simd").export("f.wasm")'
            )
        results = [path, path.with_suffix(".js")]
        script = js_loader(self._signatures, path.name, self._sites)
        contents = link_wasm(self._data, self._signatures, bool(self._sites)), script.encode()
        files.write_whole(dict(zip(results, contents, strict=True)))
        return results


class CrossCompiledFunction:
    """A function compiled for another machine; calling it raises."""

    def __init__(self, signature: CallSignature, triple: str, hindrance: str):
        self.signature, self._triple, self._hindrance = signature, triple, hindrance

    def __repr__(self) -> str:
        return f"<{self.signature} for {self._triple}>"

    def __call__(self, *args: object, **options: object) -> NoReturn:
        written = 'lib.export("f.o") writes it, with a C header'
        if self._triple.startswith("wasm32"):
            written = 'lib.export("f.wasm") writes it, with a JavaScript loader'
        raise BuildError(
            f"{self.signature.name} was built for {self._triple}, which this machine cannot run: "
            f"{self._hindrance}; {written}"
        )


# --- WebAssembly ------------------------------------------------------------------------------------------------------


_HERE = Path(__file__).parent
_MATH = sorted(["hypot", *(row.c for row in OPS.values() if row.javascript)])
"""The functions that the loader takes from JavaScript, for both widths."""
_STACK = 1 << 20


def link_wasm(data: bytes, signatures: Sequence[CallSignature], is_checked: bool) -> bytes:
    """The module of an object file: it exports the functions of the C interface, `malloc`, `free` and its memory, and
    imports functions such as `sinf`. Raises BuildError for a call of anything else."""
    toolchain.require(("zig",), "a WebAssembly module")
    exported = ["malloc", "free", *([RECORD] if is_checked else []), *(PREFIX + s.name for s in signatures)]
    with files.folder() as folder:
        names = ("module.o", "support.o", "imports.txt", "module.wasm")
        module, support, imports, result = (str(Path(folder, name)) for name in names)
        math_names = "\n".join(name + width for name in _MATH for width in ("", "f"))
        files.write_whole({Path(module): data, Path(imports): math_names.encode()})
        toolchain.run("zig", ["cc", *_SUPPORT_FLAGS, str(_HERE / "wasm_support.c"), "-o", support])
        options = ["--no-entry", f"--allow-undefined-file={imports}", "-z", f"stack-size={_STACK}", "--stack-first"]
        options += [f"--export={name}" for name in exported]
        done = toolchain.attempt("zig", ["wasm-ld", *options, module, support, "-o", result])
        if unknown := re.findall(r"undefined symbol: (\S+)", done.stderr):
            raise BuildError(
                f"the program calls {', '.join(map(repr, dict.fromkeys(unknown)))}, which a WebAssembly module cannot "
                f"import; fix: write it with arithmetic, or with {', '.join(_MATH)}"
            )
        if done.returncode:
            raise BuildError(f"wasm-ld failed: {done.stderr.strip()[:500]}")
        return Path(result).read_bytes()


_SUPPORT_FLAGS = (
    "-target", "wasm32-freestanding", "-mcpu=generic+bulk_memory", "-c", "-O2", "-ffreestanding", "-fno-sanitize=all",
)  # fmt: skip


def js_loader(signatures: Sequence[CallSignature], file: str, sites: Sequence[CheckedSite] | None = None) -> str:
    """The JavaScript module that loads `file` and calls its functions. Raises BuildError for a parameter that a
    row-major array cannot be."""
    listed = [json.dumps({"text": f"{s.function}: {s.text}, {s.location}", "rank": s.rank}) for s in sites or ()]
    parts = {
        "/*FUNCTIONS*/": "[\n" + ",\n".join(map(_js_function, signatures)) + "\n]",
        "/*SITES*/": f"[{', '.join(listed)}]",
        "/*FILE*/": file,
    }
    text = (_HERE / "wasm_loader.js").read_text()
    for mark, part in parts.items():
        text = text.replace(mark, part)
    return text


def _js_function(signature: CallSignature) -> str:
    params = ",\n    ".join(_js_param(signature, p) for p in signature.params)
    assumed = [
        f"{{ text: {json.dumps(a.text)}, holds: (n) => {_size(a.value)} {'===' if a.is_eq else '>='} 0 }}"
        for a in signature.promises
    ]
    facts = [
        f"name: {json.dumps(signature.name)}",
        f"text: {json.dumps(str(signature))}",
        f"distinct: {json.dumps(signature.noalias)}",
        f"assumptions: [{', '.join(assumed)}]",
        f"params: [\n    {params}]",
    ]
    return "  { " + ", ".join(facts) + " }"


def _js_param(signature: CallSignature, param: BufferParam | ScalarParam) -> str:
    facts: dict[str, object] = {"name": param.name, "dtype": param.dtype, "text": str(param)}
    if isinstance(param, ScalarParam):
        facts["size"] = param.is_index
        return json.dumps(facts)
    if param.offset or not _is_row_major(param):
        raise BuildError(
            f"{signature.name}: {param.name} has strides; a parameter of a WebAssembly module is row-major"
        )
    dims = ", ".join(_extent(d) for d in param.dims)
    return f"{{ ...{json.dumps({**facts, 'written': param.written})}, dims: [{dims}] }}"


def _is_row_major(param: BufferParam) -> bool:
    if param.strides is None:
        return True
    expected: int | None = 1
    for dim, stride in zip(reversed(param.dims), reversed(param.strides), strict=True):
        if stride is not None and stride != expected:
            return False
        expected = None if expected is None or dim.symbols else expected * dim.value({})
    return True


def _extent(dim: BufferDim) -> str:
    """A number, the name of a shape variable, or a function of these."""
    if not dim.symbols:
        return str(dim.value({}))
    return json.dumps(dim.text) if dim.text == dim.symbols[0] else f"(n) => {_size(dim)}"


def _size(dim: BufferDim) -> str:
    """An expression of shape variables in JavaScript: `n["m"] + 1`."""
    return str(dim.value({name: _Expression(f"n[{json.dumps(name)}]") for name in dim.symbols}))  # pyright: ignore[reportArgumentType]


class _Expression:
    """A number that is not known yet: arithmetic on it is written down."""

    def __init__(self, text: str):
        self._text = text

    def __str__(self) -> str:
        return self._text

    def __add__(self, rhs: object) -> _Expression:
        return _Expression(f"({self} + {rhs})")

    def __mul__(self, rhs: object) -> _Expression:
        return _Expression(f"({self} * {rhs})")

    def __floordiv__(self, rhs: object) -> _Expression:
        return _Expression(f"Math.floor({self} / {rhs})")

    def __mod__(self, rhs: object) -> _Expression:
        return _Expression(f"({self} - Math.floor({self} / {rhs}) * {rhs})")

    def __neg__(self) -> _Expression:
        return _Expression(f"(-{self})")

    def __radd__(self, lhs: object) -> _Expression:
        return _Expression(f"({lhs} + {self})")

    def __rmul__(self, lhs: object) -> _Expression:
        return _Expression(f"({lhs} * {self})")

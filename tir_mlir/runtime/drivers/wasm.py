"""WebAssembly: an object file is linked to a module, and gets a JavaScript loader."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tir_mlir.dialect.diagnostics import RECORD, BuildError, CheckedSite
from tir_mlir.runtime.call.function import PREFIX
from tir_mlir.runtime.call.signature import BufferParam, CallSignature, Dim, ScalarParam
from tir_mlir.runtime.tools import files, toolchain

_HERE = Path(__file__).parent
_MATH = (
    "acos acosh asin asinh atan atan2 atanh cbrt cos cosh exp exp2 expm1 fmod hypot log log10 log1p log2 pow sin sinh "
    "tan tanh"
).split()
"""The functions that the loader takes from JavaScript, for both widths."""
_STACK = 1 << 20


def link(data: bytes, signatures: Sequence[CallSignature], is_checked: bool) -> bytes:
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


def loader(signatures: Sequence[CallSignature], file: str, sites: Sequence[CheckedSite] | None = None) -> str:
    """The JavaScript module that loads `file` and calls its functions. Raises BuildError for a parameter that a
    row-major array cannot be."""
    listed = [json.dumps({"text": f"{s.function}: {s.text}, {s.place}", "rank": s.rank}) for s in sites or ()]
    parts = {
        "/*FUNCTIONS*/": "[\n" + ",\n".join(map(_function, signatures)) + "\n]",
        "/*SITES*/": f"[{', '.join(listed)}]",
        "/*FILE*/": file,
    }
    text = (_HERE / "wasm_loader.js").read_text()
    for mark, part in parts.items():
        text = text.replace(mark, part)
    return text


def _function(signature: CallSignature) -> str:
    params = ",\n    ".join(_param(signature, p) for p in signature.params)
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


def _param(signature: CallSignature, param: BufferParam | ScalarParam) -> str:
    facts: dict[str, Any] = {"name": param.name, "dtype": param.dtype, "text": str(param)}
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


def _extent(dim: Dim) -> str:
    """A number, the name of a shape variable, or a function of these."""
    if not dim.symbols:
        return str(dim.value({}))
    return json.dumps(dim.text) if dim.text == dim.symbols[0] else f"(n) => {_size(dim)}"


def _size(dim: Dim) -> str:
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

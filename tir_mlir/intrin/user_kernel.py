"""The code of a user for the functions that an intrinsic calls: C, LLVM IR or MLIR, for one build."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from mlir import ir

from tir_mlir.dialect.diagnostics import BuildError
from tir_mlir.dialect.ir import attrs, create, entered, funcs, is_block, is_loop, ops
from tir_mlir.runtime.drivers.clang import create_llvm
from tir_mlir.runtime.drivers.link_kernels import PRAGMA, defined_names, import_llvm
from tir_mlir.runtime.kernels.registry import emit, replaced_kernels

_MLIR = re.compile(r"^\s*(module\b|llvm\.func\b)", re.MULTILINE)
_LLVM = re.compile(r"^\s*define\b.*@", re.MULTILINE)


@contextmanager
def user_kernel(module: ir.Module, kernel: str | None) -> Iterator[ir.Module]:
    """Context with a module like `module`, whose build takes the functions that it calls from `kernel`.

    kernel: C or C++ source, LLVM IR, or MLIR in the llvm dialect; text or the path of a file. None: the registered
    kernels. Raises BuildError if it defines none of the functions.
    """
    if kernel is None:
        yield module
        return
    text = _text(kernel)
    if _MLIR.search(text) and not _LLVM.search(text):
        with _registered(module, text):
            yield module
        return
    code = text if _LLVM.search(text) else create_llvm(kernel)
    with entered():
        _check_defined(module, defined_names([import_llvm(code)]))
        module = create.clone_module(module)
        program = funcs(module)[0].op
        holder = next((op for op in ops(program) if is_loop(op) or is_block(op)), program)
        attrs.put(holder, attrs.ANNOTATIONS, {**attrs.get(holder, attrs.ANNOTATIONS, {}), PRAGMA: code})
    yield module


def _text(kernel: str) -> str:
    """The text of a kernel that is given as text or as the path of a file."""
    if "\n" not in kernel.strip() and (path := Path(kernel)).is_file():
        return path.read_text()
    return kernel


@contextmanager
def _registered(module: ir.Module, text: str) -> Iterator[None]:
    """Context in which the functions of an MLIR text are the registered kernels."""
    with entered():
        try:
            parsed = ir.Module.parse(text)
        except ir.MLIRError as error:  # pyright: ignore[reportAttributeAccessIssue]
            raise BuildError(f"the kernel is not valid MLIR: {error}") from None
        own = defined_names([parsed])
        _check_defined(module, own)
    with replaced_kernels(dict.fromkeys(own, partial(emit, text))):
        yield


def _check_defined(module: ir.Module, defined: list[str]) -> None:
    """Refuse a kernel that defines no function which the implementation calls: the check would be of another one."""
    called = {ir.FlatSymbolRefAttr(op.attributes["callee"]).value for f in funcs(module) for op in _calls(f.op)}
    if not called & set(defined):
        raise BuildError(
            f"the kernel defines {', '.join(sorted(defined)) or 'no function'}, and the implementation calls "
            f"{', '.join(sorted(called)) or 'none'}; give the function the name that is called"
        )


def _calls(root: ir.Operation) -> list[ir.Operation]:
    return [op for op in ops(root) if op.name == "func.call"]

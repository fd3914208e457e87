"""Load object files from memory into this process, by LLVM's ORC JIT linker."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Sequence

from tir_mlir.dialect.diagnostics import BuildError
from tir_mlir.runtime.llvm.llvm_c import error, llvm

_Reporter = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)


@_Reporter
def _report(_: int, why: int) -> None:
    """Silence ORC's error reporter: the failed lookup returns the same error."""
    error(why)


class Code:
    """The code of object files, linked with each other, the process and shared libraries; freed with this object."""

    def __init__(self, objects: Sequence[bytes], libs: Sequence[str] = ()):
        jit = ctypes.c_void_p()
        _check(llvm().LLVMOrcCreateLLJIT(ctypes.byref(jit), None))
        self._jit = jit
        self._free = weakref.finalize(self, llvm().LLVMOrcDisposeLLJIT, jit)
        self._free.atexit = False  # not at exit: OpenMP threads may still be running in it
        llvm().LLVMOrcExecutionSessionSetErrorReporter(llvm().LLVMOrcLLJITGetExecutionSession(jit), _report, None)
        dylib = llvm().LLVMOrcLLJITGetMainJITDylib(jit)
        prefix = llvm().LLVMOrcLLJITGetGlobalPrefix(jit)
        generator = ctypes.c_void_p()
        for lib in libs:
            make = llvm().LLVMOrcCreateDynamicLibrarySearchGeneratorForPath
            _check(make(ctypes.byref(generator), lib.encode(), prefix, None, None))
            llvm().LLVMOrcJITDylibAddGenerator(dylib, generator)
        make = llvm().LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess
        _check(make(ctypes.byref(generator), prefix, None, None))
        llvm().LLVMOrcJITDylibAddGenerator(dylib, generator)
        for data in objects:
            buffer = llvm().LLVMCreateMemoryBufferWithMemoryRangeCopy(data, len(data), b"tir_mlir")
            _check(llvm().LLVMOrcLLJITAddObjectFile(jit, dylib, buffer))

    def keep(self) -> Code:
        """Never free the code."""
        self._free.detach()
        return self

    def address(self, symbol: str) -> int:
        """The address of a function. Raises BuildError if it or a function that it calls is undefined."""
        pointer = ctypes.c_uint64()
        _check(llvm().LLVMOrcLLJITLookup(self._jit, ctypes.byref(pointer), symbol.encode()))
        return pointer.value


def _check(why: int | None) -> None:
    if why:
        raise BuildError(f"the compiled code cannot be loaded: {error(why)}")

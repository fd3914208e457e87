"""The result of `build`: the compiled functions by name, and the program after each stage."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from mlir import ir
from mlir.dialects.llvm import translate_module_to_llvmir

from tir_mlir.dialect.diagnostics import BuildError, SourceError, short_repr
from tir_mlir.dialect.ir import enter_context
from tir_mlir.extensions import extension_point
from tir_mlir.runtime.call import fast_entry
from tir_mlir.runtime.call.signature import positional_arguments
from tir_mlir.runtime.drivers.compiled_code import BareMetalWriter, CompiledCode, FileWriter
from tir_mlir.runtime.drivers.exporting import Exporter, check_path
from tir_mlir.runtime.scheduled_programs import AS_GIVEN
from tir_mlir.runtime.timing import Timing

if TYPE_CHECKING:
    from tir_mlir.runtime.call.signature import ProgramFunction


class _FunctionTable(dict[str, "ProgramFunction"]):
    """The dict base of a library, so that `lib["main"]` is a C-level lookup. `__call__` is a slot for the same reason:
    `lib(...)` calls the object stored in it."""

    __slots__ = ("__call__", "__dict__")


@extension_point
def report_kernels(function: Any, args: Sequence[object]) -> Any:  # Any: of `ptx`, which is above
    """What the kernels of a function do on arguments, as the PTX machine counts it; without arguments, the first block
    of each launch on small numbers."""
    ...


@extension_point
def predict_kernels(function: Any, args: Sequence[object], gpu: str | None) -> Any:  # Any: as above
    """The time that a GPU is predicted to take for a function of kernels."""
    ...


class Library(_FunctionTable):
    """The compiled functions of a module: `lib["main"](a, b, c)`, `lib.main(...)`, or `lib(...)` if there is only one.

    mlir, lowered, llvm_ir, assembly: the program after each stage, as text; source: kernels in C. timing: seconds a
    stage. schedule_origin: where the schedule is from: "as given", a record of a `tune.Database`, or `schedules.auto`.
    """

    __hash__ = object.__hash__  # pyright: ignore[reportAssignmentType]
    __eq__ = object.__eq__
    __ne__ = object.__ne__

    def __init__(
        self,
        source: str,
        lowered: Callable[[], ir.Module],
        driver: CompiledCode,
        functions: Mapping[str, ProgramFunction],
        timing: Timing,
        exporter: FileWriter,
        schedule_origin: str = AS_GIVEN,
        kernel_source: Callable[[], str] | None = None,
    ):
        super().__init__(functions)
        attributes = {name: f for name, f in functions.items() if name not in _LIBRARY_ATTRIBUTES}
        self.__dict__.update(attributes)
        self.mlir = source
        self.timing = timing
        self.schedule_origin = schedule_origin
        self.exporter = exporter
        self.kernel_source = kernel_source
        self._lower = lowered
        self._driver = driver
        self.__call__ = next(iter(functions.values())) if len(functions) == 1 else _AmbiguousCall(list(functions))

    @property
    def functions(self) -> list[str]:
        """Names of the functions."""
        return list(self)

    def __missing__(self, name: str) -> NoReturn:
        raise KeyError(f"no function {short_repr(name)} in this library; it has: {', '.join(self)}")

    def __getattr__(self, name: str) -> ProgramFunction:
        if name == "source":  # which its property did not find: Python forgets why
            self._source()
        raise AttributeError(f"Library has no attribute {name!r}; its functions are: {', '.join(self)}")

    def __repr__(self) -> str:
        return f"<library: {', '.join(map(repr, self.values()))}>"

    __reduce_ex__ = fast_entry.refuse_pickle

    @property
    def scratch(self) -> int:
        """Bytes that a call allocates for buffers of the program, where known when it was built (driver "jit")."""
        return self._driver.scratch

    @property
    def lowered(self) -> str:
        """The module in the llvm dialect, kernels linked."""
        with enter_context():
            return str(self._module())

    @property
    def llvm_ir(self) -> str:
        """LLVM IR, before LLVM's own optimizations."""
        with enter_context():
            return translate_module_to_llvmir(self._module().operation)

    @property
    def assembly(self) -> str:
        """The machine code, disassembled; PTX of a library for an NVIDIA GPU, SPIR-V of one for OpenCL."""
        return self._driver.assembly()

    def report(self, *args: object, name: str | None = None, **named: object) -> Any:
        """What the kernels of a library for a GPU do, counted on the PTX machine: requests of memory and their sectors,
        bank conflicts, branches at which a warp parts, instructions by kind; and what they need: registers (with
        NVIDIA's assembler, `pip install nvidia-cuda-nvcc-cu12`), shared memory.

        args: as for a call, NumPy arrays, which get the results; without, the first block of each launch runs on small
        numbers. name: the function, if there are several. Raises PtxError for a race and what else the machine finds.
        """
        if not self._driver.is_ptx:
            raise BuildError('this library has no kernels in PTX; fix: build(..., target="cuda")')
        name = _function_name(self, name)
        return report_kernels(self[name], positional_arguments(self[name].signature, args, named) if named else args)

    def predict(self, *args: object, gpu: str | None = None, name: str | None = None, **named: object) -> Any:
        """The time that a GPU would take for a call, predicted without one: what limits it, and what would help.

        Some blocks of each launch are followed, without values, and scaled; registers are those of NVIDIA's assembler
        where it is installed. gpu: "T4", "A100", "A100-80GB", "A10", "L4", "L40S", "H100" or "H200"; by default the
        usual one of the chip. args: as for a call; only their shapes matter, and they may be left out if the signature
        has all sizes. name: the function, if there are several. Raises BuildError for a GPU that is not known.
        """
        if not self._driver.is_ptx:
            raise BuildError('this library has no kernels in PTX; fix: build(..., target="cuda")')
        function = self[_function_name(self, name)]
        return predict_kernels(function, positional_arguments(function.signature, args, named) if named else args, gpu)

    @property
    def source(self) -> str:
        """The kernels of a library for a GPU, in CUDA C, or in OpenCL C of one for OpenCL. Raises SourceError, an
        AttributeError, for a library that has no such text: `hasattr(lib, "source")` tells."""
        return self._source()

    def _source(self) -> str:
        if self.kernel_source is None:
            raise SourceError('this library has no kernels of a GPU; fix: build(..., target="cuda"), or lib.llvm_ir')
        try:
            return self.kernel_source()
        except BuildError as error:
            raise SourceError(str(error)) from error

    def export(
        self,
        path: str | Path,
        name: str | None = None,
        *,
        bare_metal: bool = False,
        constants: Mapping[str, object] | None = None,
    ) -> list[Path]:
        """Write files for C programs, which do not need this package. Returns their paths; by the suffix of `path`:

            .so    a shared library, an object file and a header         .o    an object file and a header
            .a     a static library and a header                         .h    a header
            .wasm  a WebAssembly module and its JavaScript loader, of a library for "wasm_simd"
            .ptx   the PTX of a library for an NVIDIA GPU
            .cl, .spv  the kernels of one for OpenCL, as OpenCL C and SPIR-V
            .hsaco the code object of a library for a GPU of AMD

        A function f(A, B) is `int f(const float *A, float *B)`: 0, or -1 for arguments that it is not for, and
        `f_error()` tells why. Sizes that are not constant come first. A function called main has the name of its
        `global_symbol`, or else of the file; name: of the only function. Nothing else is visible. A program links what
        the code calls: an OpenMP runtime for parallel loops, the math library. Errors: BuildError for a name, a suffix.

        bare_metal: of a library for an accelerator, write a folder for a CPU without an operating system: NAME.h,
        NAME.c (NAME_run, which calls the functions in order), NAME_functions.c, NAME_weights.c, and main.c, a driver;
        name: default that of the folder. constants: arrays, by the names of parameters, that are weights there.
        """
        path = check_path(path)
        if bare_metal:
            if not isinstance(self.exporter, BareMetalWriter):
                raise BuildError(
                    f"bare_metal=True writes programs of an accelerator, and {', '.join(self)} is not one; "
                    "fix: build(..., target=machine), or export an object file for a CPU"
                )
            return self.exporter.write_bare_metal(path, name, constants or {})
        if constants:
            raise BuildError("constants= are weights of firmware; fix: bare_metal=True")
        if path.suffix == ".wasm" and isinstance(self.exporter, Exporter):
            return self._driver.export_wasm(path)
        return self.exporter.write(path, name)

    def _module(self) -> ir.Module:
        """The lowered module; computed on demand if the code came from the cache."""
        module = self._lower()
        self._lower = lambda: module
        return module


def c_exporter(library: Library) -> Exporter:
    """What writes a library for a CPU as files for C programs. Errors: BuildError for a library for a GPU."""
    if not isinstance(library.exporter, Exporter):
        raise BuildError(f"C programs call code for CPUs, and {', '.join(library)} is for a GPU; fix: another target")
    return library.exporter


_LIBRARY_ATTRIBUTES = frozenset(
    {"mlir", "timing", "schedule_origin", "exporter", "kernel_source", "_lower", "_driver", *Library.__dict__}
)


def _function_name(library: Library, name: str | None) -> str:
    """The name of a function of a library: the given one, or the only one."""
    if name is None and len(library) > 1:
        raise BuildError(f"this library has {len(library)} functions; fix: name={next(iter(library))!r}")
    name = next(iter(library)) if name is None else name
    return library[name].signature.name


class _AmbiguousCall:
    """`lib(...)` of a library with several functions: raises."""

    def __init__(self, names: list[str]):
        self._names = names

    def __call__(self, *args: object, **options: object) -> NoReturn:
        raise BuildError(f"this library has {len(self._names)} functions: call one, lib[{self._names[0]!r}](...)")

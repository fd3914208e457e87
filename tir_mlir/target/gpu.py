"""Target GPUs: what code generation knows of them."""

from __future__ import annotations

import ctypes
import difflib
import functools
import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NoReturn

from tir_mlir.dialect.diagnostics import BuildError, short_repr
from tir_mlir.target.any_target import AnyTarget, Memory

CUDA_DRIVER = "libcuda.so.1"
"""The library of NVIDIA's driver."""


@dataclass(frozen=True)
class _Chip:
    """Facts of a compute capability: KiB of shared memory that a block may ask for, and of a multiprocessor; threads
    and blocks that it holds; the first PTX version that knows it."""

    shared: int
    shared_in_all: int
    resident_threads: int
    resident_blocks: int
    ptx: int


# the table "Technical Specifications per Compute Capability" of NVIDIA's programming guide
_CHIPS = {
    "sm_60": _Chip(48, 64, 2048, 32, 60),
    "sm_61": _Chip(48, 96, 2048, 32, 60),
    "sm_62": _Chip(48, 64, 2048, 32, 60),
    "sm_70": _Chip(96, 96, 2048, 32, 60),
    "sm_72": _Chip(96, 96, 2048, 32, 61),
    "sm_75": _Chip(64, 64, 1024, 16, 63),
    "sm_80": _Chip(163, 164, 2048, 32, 70),
    "sm_86": _Chip(99, 100, 1536, 16, 71),
    "sm_87": _Chip(163, 164, 1536, 16, 74),
    "sm_89": _Chip(99, 100, 1536, 24, 78),
    "sm_90": _Chip(227, 228, 2048, 32, 80),
    "sm_90a": _Chip(227, 228, 2048, 32, 80),
    "sm_100": _Chip(227, 228, 2048, 32, 86),
    "sm_100a": _Chip(227, 228, 2048, 32, 86),
    "sm_103": _Chip(227, 228, 2048, 32, 88),
    "sm_103a": _Chip(227, 228, 2048, 32, 88),
    "sm_120": _Chip(99, 100, 1536, 24, 87),
    "sm_120a": _Chip(99, 100, 1536, 24, 87),
    "sm_121": _Chip(99, 100, 1536, 24, 88),
}
_PRODUCTS = {
    "sm_60": ("tesla-p100", "quadro-gp100"),
    "sm_61": (
        "tesla-p4", "tesla-p40", "geforce-gtx-1050", "geforce-gtx-1050-ti", "geforce-gtx-1060", "geforce-gtx-1070",
        "geforce-gtx-1070-ti", "geforce-gtx-1080", "geforce-gtx-1080-ti", "nvidia-titan-x", "nvidia-titan-xp",
    ),
    "sm_62": ("jetson-tx2",),
    "sm_70": ("tesla-v100", "nvidia-titan-v", "quadro-gv100"),
    "sm_72": ("jetson-agx-xavier", "jetson-xavier-nx"),
    "sm_75": (
        "tesla-t4", "nvidia-t4", "geforce-gtx-1650", "geforce-gtx-1660", "geforce-gtx-1660-ti", "geforce-rtx-2060",
        "geforce-rtx-2070", "geforce-rtx-2080", "geforce-rtx-2080-ti", "nvidia-titan-rtx", "quadro-rtx-6000",
        "quadro-rtx-8000",
    ),
    "sm_80": ("nvidia-a100", "nvidia-a30"),
    "sm_86": (
        "nvidia-a10", "nvidia-a10g", "nvidia-a40", "nvidia-a16", "nvidia-a2", "rtx-a4000", "rtx-a5000", "rtx-a6000",
        "geforce-rtx-3050", "geforce-rtx-3060", "geforce-rtx-3060-ti", "geforce-rtx-3070", "geforce-rtx-3070-ti",
        "geforce-rtx-3080", "geforce-rtx-3080-ti", "geforce-rtx-3090", "geforce-rtx-3090-ti",
    ),
    "sm_87": ("jetson-agx-orin", "jetson-orin-nx", "jetson-orin-nano"),
    "sm_89": (
        "nvidia-l4", "nvidia-l40", "nvidia-l40s", "rtx-6000-ada", "geforce-rtx-4050", "geforce-rtx-4060",
        "geforce-rtx-4060-ti", "geforce-rtx-4070", "geforce-rtx-4070-ti", "geforce-rtx-4080", "geforce-rtx-4090",
    ),
    "sm_90a": ("nvidia-h100", "nvidia-h200", "nvidia-h800", "nvidia-gh200"),
    "sm_100a": ("nvidia-b100", "nvidia-b200", "nvidia-gb200"),
    "sm_103a": ("nvidia-b300", "nvidia-gb300"),
    "sm_120a": ("geforce-rtx-5060", "geforce-rtx-5070", "geforce-rtx-5080", "geforce-rtx-5090", "rtx-pro-6000"),
    "sm_121": ("nvidia-gb10",),
}  # fmt: skip
PRODUCTS = {f"nvidia/{name}": chip for chip, names in _PRODUCTS.items() for name in names}
"""The names of GPUs, as TVM has them: `nvidia/tesla-p100`; and the chip of each."""


class GPU(AnyTarget):
    """A target that runs kernels: the nests that are bound to blocks and threads."""

    noun = "GPU"
    chip: str
    max_threads: int
    """Of a block."""
    shared: int
    """Bytes of shared memory of a block."""
    warp: int
    """Threads that run together and shuffle values; 1: values are combined in shared memory."""

    @property
    def shared_declared(self) -> int:
        """Bytes of shared memory that a kernel can declare."""
        return self.shared

    @property
    def memories(self) -> Mapping[str, Memory]:
        return {
            "global": Memory(0, 16, "program"),
            "shared": Memory(self.shared, 16, "block", self.shared_declared),
            "local": Memory(0, 16, "thread"),
        }

    @property
    def features(self) -> frozenset[str]:
        """The instruction sets that it may lack: `dp4a`, sums of four products of bytes; `wmma`, `mma`, products of
        matrices by a warp, or `wgmma`, four; `ldmatrix`, `stmatrix`, loads and stores of matrices; `cp.async`, copies
        to shared memory that run while threads compute; `tma`, copies of whole tiles."""
        return frozenset()

    def has(self, *features: str) -> bool:
        return self.features.issuperset(features)

    @property
    def atomic_types(self) -> frozenset[str]:
        """The types of elements that an instruction updates at once."""
        return frozenset()

    def as_gpu(self) -> GPU:
        return self

    @property
    def emulation(self) -> CUDA:
        """The target that runs the same kernels on this machine's CPU."""
        return CUDA(emulated=True)

    def _refuse(self) -> NoReturn:
        raise BuildError(
            f"{self.chip} is a GPU, and this is for CPUs; for GPUs there are schedules.auto, sch.bind, "
            'cache_read to shared and local, and build(sch, target="cuda")'
        )


@dataclass(frozen=True)
class CUDA(GPU):
    """An NVIDIA GPU: its compute capability `chip` ("sm_60" to "sm_121") and what a block of threads may use.

    max_threads: of a block.
    shared_static: bytes of shared memory that a kernel can declare.
    shared: that a launch can ask for, by default what the chip has.
    ptx: the version of PTX, 80 is 8.0.
    emulated: run the kernels on this machine's CPU, the threads of a block one after the other.
    math: "float32", or "tf32" to let ready schedules round the operands of products and convolutions of float32 to
        tf32, 11 bits, which tensor cores from sm_80 on multiply. Raises BuildError for an unknown chip, a limit below 0
        and a math that the chip does not have. Facts of the chip: warp, threads that run together and shuffle values;
        registers, of a multiprocessor, for all of its blocks.
    resident_threads, resident_blocks, resident_shared: of a multiprocessor.
    """

    chip: str = "sm_80"
    max_threads: int = 1024
    shared_static: int = 48 << 10
    shared: int = 0
    ptx: int = 0
    emulated: bool = False
    math: str = "float32"
    warp: int = field(default=32, init=False)
    registers: int = field(default=64 << 10, init=False)
    resident_threads: int = field(default=0, init=False)
    resident_blocks: int = field(default=0, init=False)
    resident_shared: int = field(default=0, init=False)

    is_tuned = True

    @property
    def kind(self) -> str:
        return EMULATED if self.emulated else "cuda"

    def __post_init__(self) -> None:
        if not isinstance(self.chip, str) or self.chip not in _CHIPS:
            near = difflib.get_close_matches(str(self.chip), _CHIPS, 1)
            hint = f" (did you mean {near[0]!r}?)" if near else ""
            raise BuildError(f"unknown GPU {short_repr(self.chip)}{hint}; known: {', '.join(map(repr, _CHIPS))}")
        for name in ("max_threads", "shared_static", "shared", "ptx"):
            value = getattr(self, name)
            if not isinstance(value, int) or value < 0:
                raise BuildError(f"{name} of a GPU is a number from 0 on, not {short_repr(value)}; fix: leave it out")
        if self.math not in ("float32", "tf32"):
            raise BuildError(f'math of a GPU is "float32" or "tf32", not {short_repr(self.math)}')
        if self.math == "tf32" and self.capability < 80:
            raise BuildError(f'{self.chip} has no tf32; fix: CUDA("sm_80") or later, or leave math out')
        facts = _CHIPS[self.chip]
        for name, value in {
            "shared": facts.shared << 10,
            "resident_threads": facts.resident_threads,
            "resident_blocks": facts.resident_blocks,
            "resident_shared": facts.shared_in_all << 10,
            "ptx": facts.ptx,
        }.items():
            if not getattr(self, name):
                object.__setattr__(self, name, value)

    def occupancy(self, threads: int, shared_bytes: int, registers: int) -> tuple[int, str]:
        """The blocks of `threads` threads that a multiprocessor holds at a time, and what it has no more of.

        A warp takes registers in units of 256 from one of four banks; from sm_80 on a block takes 1 KiB of shared
        memory besides its own (NVIDIA's occupancy calculator).
        """
        warps = -(-threads // self.warp)
        of_a_warp = -(-max(registers, 1) * self.warp // 256) * 256
        reserved = 1 << 10 if self.capability >= 80 else 0
        return min(
            (self.registers // 4 // of_a_warp * 4 // warps, "registers"),
            (self.resident_threads // (warps * self.warp), "threads"),
            (self.resident_blocks, "blocks"),
            (self.resident_shared // max(shared_bytes + reserved, 1), "shared memory"),
        )

    @property
    def capability(self) -> int:
        """The compute capability: 90 of sm_90a."""
        return int(self.chip.strip("sm_a"))

    @property
    def features(self) -> frozenset[str]:
        least = {"dp4a": 61, "wmma": 70, "ldmatrix": 75, "mma": 80, "cp.async": 80, "stmatrix": 90, "tma": 90}
        found = {name for name, capability in least.items() if self.capability >= capability}
        found |= {self.math} - {"float32"}
        return frozenset(found | ({"wgmma"} if self.chip == "sm_90a" else set()))

    @property
    def atomic_types(self) -> frozenset[str]:
        short = {"float16": 70, "bfloat16": 90}
        always = ("int32", "int64", "float32", "float64")
        return frozenset([*always, *(name for name, least in short.items() if self.capability >= least)])

    @property
    def memories(self) -> Mapping[str, Memory]:
        operands = ["matrix_a", "matrix_b", "accumulator"]
        names = {"wmma": operands, "mma": [*operands, "matrix_a_trans", "matrix_b_trans"]}
        scopes = [f"{unit}.{name}" for unit in names if self.has(unit) for name in names[unit]]
        sums = {"wgmma.accumulator": Memory(0, 16, "warpgroup")} if self.has("wgmma") else {}
        return {**super().memories, **{scope: Memory(0, 16, "warp") for scope in scopes}, **sums}

    @property
    def shared_declared(self) -> int:
        return self.shared_static

    @property
    def hindrance(self) -> str | None:
        return None if self.emulated or _local_cuda() is not None else "this machine has no NVIDIA GPU"

    @property
    def emulation(self) -> CUDA:
        return replace(self, emulated=True)

    @property
    def nvidia(self) -> CUDA:
        return self

    def record_key(self, threads: int | None = None) -> str:
        return self.chip

    @property
    def triple(self) -> str:
        return "nvptx64-nvidia-cuda"

    @property
    def llvm_features(self) -> str:
        return f"+ptx{self.ptx}"


_SUB_GROUPS = (8, 16, 32)


@dataclass(frozen=True)
class OpenCL(GPU):
    """A device with OpenCL: threads of a block and bytes of shared memory that it has at least.

    warp: threads of a sub-group, which shuffle values: 8, 16 or 32; 1: values are combined in shared memory, as not
        every device has shuffles.
    spirv: the device gets the kernels as SPIR-V, by MLIR and LLVM; else as OpenCL C. Raises BuildError for another
        warp.
    """

    max_threads: int = 1024
    shared: int = 32 << 10
    warp: int = 1
    spirv: bool = False

    kind = "opencl"

    def __post_init__(self) -> None:
        if self.warp not in (1, *_SUB_GROUPS):
            known = ", ".join(map(str, _SUB_GROUPS))
            raise BuildError(f"a sub-group of OpenCL has {known} threads, not {short_repr(self.warp)}; fix: warp=32")

    @property
    def chip(self) -> str:
        return "OpenCL"

    @property
    def hindrance(self) -> str | None:
        return None if importlib.util.find_spec("pyopencl") else "pyopencl is not installed"

    @property
    def triple(self) -> str:
        """Of SPIR-V."""
        return "spirv64-unknown-unknown"


OPENCL = OpenCL()

_ROCM_CHIPS = ("gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1200", "gfx1201")


@dataclass(frozen=True)
class ROCM(GPU):
    """A GPU of AMD, experimental: code objects are made, `lib.export("f.hsaco")`, and checked by their assembly only.

    max_threads: of a block.
    shared: bytes of shared memory of a block. Threads combine values in shared memory. Raises BuildError for an unknown
        chip.
    """

    chip: str = "gfx942"
    max_threads: int = 1024
    shared: int = 64 << 10
    warp: int = field(default=1, init=False)

    kind = "rocm"

    def __post_init__(self) -> None:
        if self.chip not in _ROCM_CHIPS:
            known = ", ".join(map(repr, _ROCM_CHIPS))
            raise BuildError(f"unknown GPU of AMD {short_repr(self.chip)}; known: {known}")

    @property
    def atomic_types(self) -> frozenset[str]:
        return frozenset(("int32", "int64", "float32", "float64"))

    @property
    def triple(self) -> str:
        return "amdgcn-amd-amdhsa"

    @property
    def hindrance(self) -> str:
        return "code for GPUs of AMD is experimental, and not called from here"


DEFAULT_CHIP = "sm_80"
"""What code for "cuda" is for on a machine without a GPU."""

EMULATED = "cuda-emulated"
NAMES_OF_GPUS = ("cuda", EMULATED, "opencl", *_CHIPS, *_ROCM_CHIPS, *PRODUCTS)
"""All names that `gpu_named` knows."""


def gpu_named(name: str) -> GPU | None:
    """The GPU of a name: "cuda" (that of this machine, else a typical one), a chip, "nvidia/tesla-p100",
    "cuda-emulated" (a typical one, run by the CPU), "opencl", AMD's "gfx942"; None for names of another kind. Raises
    BuildError for an unknown chip of AMD."""
    plain = name.lower()
    if plain == "cuda":
        return _local_cuda() or CUDA(DEFAULT_CHIP)
    if plain == EMULATED:
        return CUDA(DEFAULT_CHIP, emulated=True)
    if plain == "opencl":
        return OPENCL
    if plain.startswith("gfx"):
        return ROCM(plain)
    if plain in PRODUCTS:
        return CUDA(PRODUCTS[plain])
    return CUDA(plain) if plain in _CHIPS else None


# --- the GPU of this machine ----------------------------------------------------------------------------------------


_CAPABILITY_MAJOR, _CAPABILITY_MINOR = 75, 76  # CUdevice_attribute


def host_gpu(fix: str = "") -> CUDA:
    """The first GPU of this machine. Raises BuildError that says what is missing; fix: the way out for this use."""
    gpu = _local_cuda()
    if gpu is None:
        build = 'target="nvidia/nvidia-a100", ..., to compile for one, or target="cuda-emulated" to run on the CPU'
        raise BuildError(f"this machine has no NVIDIA GPU that can be used: {_missing_reason()}; fix: {fix or build}")
    return gpu


def _missing_reason() -> str:
    answer = _ask_driver()
    return answer if isinstance(answer, str) else "no error"


def _local_cuda() -> CUDA | None:
    answer = _ask_driver()
    if isinstance(answer, str):
        return None
    major, minor = answer
    chip = f"sm_{major}{minor}"
    return CUDA(f"{chip}a" if f"{chip}a" in _CHIPS else chip)


@functools.cache
def _ask_driver() -> tuple[int, int] | str:
    """The compute capability of the first GPU, or what is missing."""
    try:
        driver = ctypes.CDLL(CUDA_DRIVER)
    except OSError:
        return f"{CUDA_DRIVER}, the library of NVIDIA's driver, is not found"
    device, number = ctypes.c_int(), ctypes.c_int()
    if code := driver.cuInit(0):
        return f"the driver does not start (cuInit returns {code})"
    if driver.cuDeviceGetCount(ctypes.byref(number)) or not number.value:
        return "the driver finds no GPU"
    driver.cuDeviceGet(ctypes.byref(device), 0)
    numbers = []
    for attribute in (_CAPABILITY_MAJOR, _CAPABILITY_MINOR):
        driver.cuDeviceGetAttribute(ctypes.byref(number), attribute, device)
        numbers.append(number.value)
    if f"sm_{numbers[0]}{numbers[1]}" not in _CHIPS:
        return f"its GPU, sm_{numbers[0]}{numbers[1]}, is not known"
    return numbers[0], numbers[1]

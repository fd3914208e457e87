"""The cores that speed is predicted for: widths, caches' rates, and where LLVM's model of one is wrong.

Rates of caches are what one core sustains, rounded, from the makers' optimization manuals and public measurements
(uops.info, Chips and Cheese); those of Zen 1 and 4, of L3 of Emerald Rapids, and of DRAM of Zen 3 are measured. A rate
of DRAM is a core's share of a server's memory. What cores share are a socket's numbers of the makers, and for DRAM four
fifths of the rate of its channels.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from tir_mlir.dialect.diagnostics import BuildError
from tir_mlir.runtime.llvm import object_code
from tir_mlir.target import Target
from tir_mlir.target.llvm_names import cpu_with, modelled_cpu
from tir_mlir.target.work_cost import multiply_add_rate

WAITED = {"L2": 0.3, "L3": 0.8, "DRAM": 1.0}
"""The part of the cycles of what comes from a memory that the core waits for: loads run ahead of its work, but phases
that copy or only read have no work to hide them. Fitted to 100 candidates of five programs on a Zen 3."""
Replacements = Mapping[str, str]
"""Pattern -> what llvm-mca reads instead, which costs what the instruction costs: its own cost there is wrong."""
Occupations = Mapping[str, tuple[str, float]]
"""Pattern -> a unit and the cycles that an instruction occupies it, where LLVM's model has no such unit."""


@dataclass(frozen=True)
class Core:
    """name: LLVM's of the CPU. model: the CPU whose model llvm-mca takes; "" for one in order, `vector_core`. dispatch:
    instructions a cycle. multiply_bits: width of the multiply-adds of a cycle. l1, l2, l3, dram: bytes a cycle from
    there, for one core. shared: MiB of a last cache, which one thread has to itself. cores: of a socket. sharing: those
    that share a last cache. all_l3, all_dram: bytes a cycle of such a cache, and of the memory of a socket, for all of
    its cores. removed: what llvm-mca does not read, as `occupies` has all of its cost. streams: arrays that are read at
    once where memory is read fastest. fetches_ahead: whether it reads one array at the rate of its memory by itself;
    others stop at the ends of pages, unless instructions prefetch what follows. written: how often a written line
    counts: once where what is written back has a way of its own, beside that of the lines which are read."""

    name: str
    model: str
    dispatch: int
    multiply_bits: int
    l1: float
    l2: float
    l3: float
    dram: float
    shared: int
    cores: int
    sharing: int
    all_l3: float
    all_dram: float
    replaced: Replacements = field(default_factory=dict[str, str])
    occupies: Occupations = field(default_factory=dict[str, tuple[str, float]])
    removed: str = ""
    streams: int = 1
    fetches_ahead: bool = False
    written: int = 2

    def last_cache(self, cpu: Target) -> int:
        """Bytes of the last cache: of this machine, or what servers of the kind have."""
        return cpu.l3 if not cpu.triple else max(self.shared << 20, cpu.l2)

    def rate_of(self, size: int, cpu: Target) -> float:
        """Bytes a cycle from the nearest cache that holds an array of `size` bytes together with others: in half of L2,
        or a quarter of the last cache."""
        return self.l2 if 2 * size <= cpu.l2 else self.l3 if 4 * size <= self.last_cache(cpu) else self.dram

    def caches(self, threads: int) -> int:
        """The last caches that threads have, which are next to each other."""
        return -(-threads // self.sharing)

    def l3_each(self, threads: int) -> float:
        """Bytes a cycle from L3 of each of some threads that read it at once."""
        return min(self.l3, self.all_l3 * self.caches(threads) / threads)

    def dram_rate(self, threads: int) -> float:
        """Bytes a cycle from memory of some threads together."""
        return min(threads * self.dram, max(self.all_dram, self.dram))

    def written_to_memory(self, threads: int) -> int:
        """How often a line counts that some threads write to memory: its channels have one way for both."""
        return self.written if threads * self.dram < self.all_dram else 2

    def multiply_adds(self, dtype: str, cpu: Target) -> float:
        """The most multiply-adds of operands of a type in a cycle, by the best instruction of the CPU."""
        return multiply_add_rate(dtype, cpu, self.multiply_bits)


_DOTS = {r"^vpdp(busds?|wssds?)\b": "vfmadd231ps", r"^vdpbf16ps\b": "vfmadd231ps"}
_WIDE_LOADS = {r"^vp?broadcast(ss|sd|d|q)(?=\t[^%]*\()": "vmovups"}
_WIDENING_LOADS = {r"^(vpmov[sz]x\w\w\t-?\w*\(.*)%ymm": r"\1%xmm"}
"""Zen 3 loads 16 bytes and widens them to 32 at the rate of loads (measured); in LLVM's model it takes 1.5 cycles."""
_WIDE_MEMORY: dict[str, tuple[str, float]] = {
    r"%zmm\d+.*,\s*-?\w*\([^)]*\)$": ("stores", 2.0),
    r"\(.*%zmm": ("loads", 1.0),
}
"""Zen 4 moves 512 bits as two halves."""
_HALVES = {r"%zmm(?=\d)": "%ymm", r"\{1to16\}": "{1to8}", r"\{1to8\}(?=.*%ymm)": "{1to8}"}
"""Zen 5 has twice the width of Zen 4, whose model LLVM takes for it: what 512 bits cost is what 256 cost there."""
_AMX: dict[str, tuple[str, float]] = {
    r"^tdp": ("tile products", 16.0),
    r"^tileload": ("loads", 8.0),
    r"^tilestore": ("stores", 16.0),
}

_HALF_WIDTHS: dict[str, tuple[str, float]] = {
    r"^vmaskmov.*%ymm.*\)$": ("stores", 12.0),
    r"^vmaskmov.*\)$": ("stores", 6.0),
    r"^vmaskmov.*%ymm": ("loads", 10.0),
    r"^vmaskmov": ("loads", 6.0),
    r"%ymm\d+,\s*-?\w*\([^)]*\)$": ("stores", 2.0),
    r"%xmm\d+,\s*-?\w*\([^)]*\)$": ("stores", 1.0),
    r"^vcvtph2ps\t.*\(.*%ymm": ("conversions", 3.0),
    r"^v(cvt|round).*%ymm": ("conversions", 2.0),
    r"^vperm(d|ps)\b": ("shuffles", 4.0),
    r"^vperm(q|pd)\b": ("shuffles", 2.0),
    r"^vblendp.*%ymm": ("shuffles", 1.0),
    r"^v(div|sqrt)p.*%ymm": ("arithmetic", 8.0),
    r"^(?!vp?broadcast|vpmov).*\(.*%ymm": ("loads", 1.0),
}
"""Zen 1 computes and moves 256 bits as two halves (measured). LLVM's model knows that of sums and products, not of
loads, stores and conversions; masked moves and permutations of whole registers are microcode."""

# weights of 4 bits of one row, with and without prefetches: from L3 57 and 72 GB/s, from DRAM 24.7 and 26.3 (Zen 4)
_ZEN4 = Core(
    "znver4", "znver4", 6, 512, 64, 30, 20, 8, 32, 96, 8, 160, 105, {**_DOTS, **_WIDE_LOADS}, _WIDE_MEMORY,
    fetches_ahead=True, written=1,
)  # fmt: skip
# LLVM's models of Ice Lake and Sapphire Rapids are of the client's cores, with one unit for 512 bits; the server's have
# the two of Skylake
_SPR = Core(
    "sapphirerapids", "skylake-avx512", 6, 1024, 128, 48, 10, 4, 60, 56, 56, 448, 85,
    _DOTS, _AMX, r"^(tdp|tileload|tilestore|tilezero)", streams=4,
)  # fmt: skip
# name, model, dispatch, multiply_bits; l1, l2, l3, dram, shared of a core; cores, sharing, all_l3, all_dram of a socket
_CORES = (
    Core("haswell", "haswell", 4, 512, 64, 28, 10, 4, 20, 18, 18, 96, 20),
    Core("skylake-avx512", "skylake-avx512", 4, 1024, 128, 40, 6, 4, 22, 28, 28, 168, 40),
    Core("icelake-server", "skylake-avx512", 5, 1024, 128, 42, 8, 4, 32, 40, 40, 320, 58, _DOTS),
    Core("alderlake", "alderlake", 6, 512, 96, 48, 10, 7, 30, 8, 8, 80, 15),
    _SPR,
    Core("znver1", "znver1", 6, 256, 32, 26, 13, 6, 8, 32, 4, 52, 50, occupies=_HALF_WIDTHS),
    Core("znver2", "znver2", 5, 512, 64, 32, 20, 6, 16, 64, 4, 80, 50),
    Core("znver3", "znver3", 6, 512, 64, 32, 20, 9, 32, 64, 8, 160, 50, _WIDENING_LOADS),
    _ZEN4,
    Core("znver5", "znver4", 8, 1024, 128, 64, 24, 8, 32, 128, 8, 192, 120, {**_DOTS, **_WIDE_LOADS, **_HALVES}),
    Core("neoverse-n1", "neoverse-n1", 4, 256, 32, 24, 11, 6, 32, 64, 64, 350, 64),
    # of SVE's dot products LLVM's model knows that of two signs as half as expensive as that of one
    Core("neoverse-v1", "neoverse-v1", 8, 512, 64, 32, 12, 8, 32, 64, 64, 450, 95, {r"^usdot(?=\tz)": "sdot"}),
    Core("neoverse-n2", "neoverse-n2", 5, 256, 48, 32, 12, 8, 32, 128, 128, 900, 100),
    Core("neoverse-v2", "neoverse-v2", 8, 512, 48, 32, 12, 10, 64, 96, 96, 700, 150),
    # LLVM's model is of Apple's first 64-bit core; Neoverse V2 has the same pipes and latencies of vectors
    Core("apple-m1", "neoverse-v2", 8, 512, 48, 32, 20, 18, 16, 4, 4, 60, 19),
    Core("spacemit-x60", "", 2, 128, 16, 8, 8, 2, 0, 8, 4, 16, 4),
)
_BY_NAME = {core.name: core for core in _CORES}


def core_of(cpu: Target) -> Core:
    """The core of a CPU, by its name; without a row of that name, by its instruction sets. Raises BuildError if neither
    is known."""
    name = cpu.cpu or object_code.target().cpu.decode()
    if name == "generic" and cpu.has("sve"):
        name = "neoverse-v1"
    elif name == "generic" and cpu.has("i8mm"):
        name = "neoverse-n2"
    known = (_BY_NAME.get(modelled_cpu(n)) for n in (name, cpu_with(cpu.arch, cpu.features)))
    core = None if cpu.arch == "wasm32" else next(filter(None, known), None)
    if core is None:
        raise BuildError(
            f"no model of the core of {name!r}, {cpu.arch}; known: {', '.join(_BY_NAME)}; fix: target= one that is "
            'similar, by a predefined name such as "zen4" or "neoverse_v1"'
        )
    return core if core.name == name else replace(core, name=name)


_TYPICAL = Core("typical", "", 4, 512, 64, 32, 10, 4, 32, 32, 32, 320, 50)


def core_or_typical(cpu: Target) -> Core:
    """The core of a CPU; a typical one for a CPU that is not known, or of which only registers and caches are given."""
    try:
        return core_of(cpu) if cpu.arch else _TYPICAL
    except BuildError:
        return _TYPICAL

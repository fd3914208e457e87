"""GPUs as they are sold: rates and sizes by which times are predicted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from tir_mlir.dialect.diagnostics import BuildError, short_repr


@dataclass(frozen=True)
class Card:
    """A GPU.

    capability: of its chip. multiprocessors; clock: GHz, the boost clock of its f32 figure.
    f32, f64, sfu: results a cycle of a multiprocessor.
    tensor: floating-point operations a cycle of a multiprocessor on tensor cores, of float16 by `mma.sync`.
    wgmma: the same by `wgmma`; 0: it has none.
    sustained: the part of the clock that its power allows while tensor cores are busy.
    dram, l2: GB/s that reads reach. l2_size: MiB.
    shared_latency, l2_latency, dram_latency: cycles from a load to its use.
    """

    name: str
    capability: int
    multiprocessors: int
    clock: float
    f32: int
    f64: int
    tensor: float
    wgmma: int
    sustained: float
    dram: int
    l2: int
    l2_size: int
    shared_latency: int
    l2_latency: int
    dram_latency: int
    sfu: int = 16
    alu: int = 64

    def at_power(self, uses_tensor_cores: bool) -> Card:
        """The card with the clock that it holds."""
        if not uses_tensor_cores:
            return self
        return replace(self, clock=self.clock * self.sustained, l2=round(self.l2 * self.sustained))

    def seconds(self, cycles: float) -> float:
        return cycles / (self.clock * 1e9)


# Multiprocessors, clocks, tensor rates, L2 size: NVIDIA's data sheets and white papers (T4, A100, GA102, Ada, Hopper).
# f32, f64, alu, sfu: "Throughput of Native Arithmetic Instructions" in the CUDA programming guide.
# dram, l2, latencies: measured by github.com/te42kyfo/gpu-benches on A100, H200, L40, H100 PCIe (latencies); of T4 by
# Jia et al. 2019 (arXiv:1903.07486). H100 has the L2 of H200, A10 and L4 the L2 rate and latencies of L40 for each
# multiprocessor; dram of H100, A10, L4: 0.9 of the data sheet. Shared memory: Luo et al. 2024 (arXiv:2402.13499), which
# also has 0.63 of the rate of `wgmma` for `mma.sync` on H100. sustained: so that tensor cores that are busy
# for 0.9 of the time reach the rate of cuBLAS (765 TFLOP/s on H100, 280 on A100; of others estimated).
_TABLE = (
    Card("T4", 75, 40, 1.59, 64, 2, 1024, 0, 0.67, 240, 1270, 4, 19, 188, 296),
    Card("A100", 80, 108, 1.41, 64, 32, 2048, 0, 1.0, 1400, 5400, 40, 29, 262, 466),
    Card("A100-80GB", 80, 108, 1.41, 64, 32, 2048, 0, 1.0, 1730, 5400, 40, 29, 262, 466),
    Card("A10", 86, 72, 1.695, 128, 2, 1024, 0, 0.9, 540, 1800, 6, 30, 276, 631),
    Card("L4", 89, 58, 2.04, 128, 2, 1024, 0, 0.67, 270, 1740, 48, 30, 276, 631),
    Card("L40S", 89, 142, 2.52, 128, 2, 1024, 0, 0.9, 800, 5200, 96, 30, 276, 631),
    Card("H100", 90, 132, 1.98, 128, 64, 0.63 * 4096, 4096, 0.79, 3000, 9700, 50, 29, 265, 650),
    Card("H200", 90, 132, 1.98, 128, 64, 0.63 * 4096, 4096, 0.79, 3890, 9700, 50, 29, 265, 650),
)
CARDS: Mapping[str, Card] = {card.name: card for card in _TABLE}
"""By name."""
_DEFAULTS = {75: "T4", 80: "A100", 86: "A10", 89: "L40S", 90: "H100"}


def find_card(name: str | None, capability: int) -> Card:
    """The card of a name; without one the usual card of a compute capability. Raises BuildError."""
    if name is None:
        if capability not in _DEFAULTS:
            known = ", ".join(f"sm_{number}" for number in _DEFAULTS)
            raise BuildError(f"no rates are known of sm_{capability}; they are of {known}")
        return CARDS[_DEFAULTS[capability]]
    by_name = {card.lower(): card for card in CARDS}
    if name.lower() not in by_name:
        raise BuildError(f"no rates are known of the GPU {short_repr(name)}; they are of {', '.join(CARDS)}")
    card = CARDS[by_name[name.lower()]]
    if card.capability < capability:
        raise BuildError(f"{card.name} is sm_{card.capability}: it runs no kernels for sm_{capability}")
    return card

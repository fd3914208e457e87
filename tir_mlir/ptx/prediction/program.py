"""The predicted time of the launches of a function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tir_mlir.ptx.prediction.cards import Card
from tir_mlir.ptx.prediction.estimate import GpuPrediction, predict
from tir_mlir.ptx.prediction.registers import live_registers
from tir_mlir.ptx.prediction.tracing import TracedLaunch


@dataclass(frozen=True)
class ProgramPrediction:
    """The predicted time of a function: that of each launch, in order; seconds: of all."""

    name: str
    launches: list[GpuPrediction]

    @property
    def seconds(self) -> float:
        return sum(launch.seconds for launch in self.launches)

    def __str__(self) -> str:
        if not self.launches:
            return f"{self.name}: no kernel was started"
        return "\n\n".join(f"kernel {launch.kernel}: {launch}" for launch in self.launches)

    __repr__ = __str__


def predict_launches(
    name: str, launches: Sequence[TracedLaunch], usage: Mapping[str, tuple[int, int]], card: Card
) -> ProgramPrediction:
    """The time that a GPU is predicted to take. usage: registers of a thread and bytes that ptxas
    spills, by kernel; of others they are estimated from the text.

    Raises PtxError for kernels that cannot be followed.
    """
    predictions = []
    for launch in launches:
        told = usage.get(launch.kernel.name)
        registers, spilled = (live_registers(launch.kernel), 0) if told is None else told
        predictions.append(predict(launch, card, registers, told is None, spilled))
    return ProgramPrediction(name, predictions)

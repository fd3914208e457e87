"""The predicted time of the launches of a function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tir_mlir.ptx.prediction.cards import find_card
from tir_mlir.ptx.prediction.estimate import Prediction, predict
from tir_mlir.ptx.prediction.registers import live_registers
from tir_mlir.ptx.prediction.tracing import TracedLaunch
from tir_mlir.target import CUDA


@dataclass(frozen=True)
class ProgramPrediction:
    """The predicted time of a function: that of each launch, in order; seconds: of all."""

    name: str
    launches: list[Prediction]

    @property
    def seconds(self) -> float:
        return sum(launch.seconds for launch in self.launches)

    def __str__(self) -> str:
        if not self.launches:
            return f"{self.name}: no kernel was started"
        return "\n\n".join(f"kernel {launch.kernel}: {launch}" for launch in self.launches)

    __repr__ = __str__


def predict_launches(
    name: str, launches: Sequence[TracedLaunch], registers: Mapping[str, int], chip: str, gpu: str | None
) -> ProgramPrediction:
    """The time that a GPU is predicted to take. registers: of a thread, by kernel; of others they are
    estimated from the text.

    Raises BuildError for a GPU whose rates are not known, PtxError for kernels that cannot be followed.
    """
    card = find_card(gpu, CUDA(chip).capability)
    predictions = []
    for launch in launches:
        told = registers.get(launch.kernel.name)
        predictions.append(predict(launch, card, live_registers(launch.kernel) if told is None else told, told is None))
    return ProgramPrediction(name, predictions)

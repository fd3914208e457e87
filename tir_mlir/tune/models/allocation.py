"""Which function of a model is searched next: where a round is expected to save most time of a run.

After the task scheduler of Ansor (Zheng et al., "Ansor: Generating High-Performance Tensor Programs for Deep
Learning", OSDI 2020, section 6), which follows the gradient of the time of the model in the trials of each function.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

RECENT = 0.2
"""The weight of what the last round has saved, against what a round may save at best."""
HEADROOM = 0.05
"""The part of its time that a function is never thought to be unable to save: roofs are those of float32."""


@dataclass
class Standing:
    """How far the search of a function is. seconds: of all its calls in a run, after each round; first without any.
    least: what these calls take at the roofs of the machine. over: nothing is left to try."""

    seconds: list[float]
    least: float = 0.0
    over: bool = field(default=False)

    @property
    def now(self) -> float:
        return self.seconds[-1]

    @property
    def rounds(self) -> int:
        return len(self.seconds) - 1


def expected_gain(standing: Standing) -> float:
    """The seconds of a run that another round is expected to save.

        0.2 * what the last round saved + 0.8 * min(seconds / (rounds + 1), seconds - least)

    The second term is a hope that shrinks with the rounds that were spent, and ends at the roof of the machine.
    """
    now, rounds = standing.now, standing.rounds
    hope = min(now / (rounds + 1), max(now - standing.least, HEADROOM * now))
    if not rounds:
        return hope
    return RECENT * max(0.0, standing.seconds[-2] - now) + (1 - RECENT) * hope


def next_function(standings: Mapping[str, Standing]) -> str | None:
    """The function whose next round is expected to save most; None if all are over."""
    open_ = {name: expected_gain(s) for name, s in standings.items() if not s.over}
    return max(open_, key=lambda name: open_[name], default=None)

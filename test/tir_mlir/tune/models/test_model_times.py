"""The time of models, and of their functions inside them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from tir_mlir.tune.models.tune_model import task_seconds, time_interleaved


def model(*profiles: dict[str, float]) -> Any:
    """A model whose profiles are these, one after the other, and then the last one."""
    waiting = list(profiles)

    def profile(*inputs: Any, rounds: int) -> list[Any]:
        found = waiting.pop(0) if len(waiting) > 1 else waiting[0]
        return [SimpleNamespace(function=name, seconds=seconds) for name, seconds in found.items()]

    return SimpleNamespace(profile=profile)


def test_equal_functions_are_one_task_and_the_fastest_turn_counts():
    task: Any = SimpleNamespace(name="f", functions=("f", "g"))
    before, after = model({"f": 3.0, "g": 1.0, "other": 9.0}, {"f": 1.0, "g": 1.0}), model({"f": 1.0, "g": 2.0})
    assert task_seconds(before, after, [task], []) == {"f": (2.0, 3.0)}


def test_models_take_turns():
    order = []
    one, other = (lambda n=n: order.append(n) for n in (0, 1))
    times = time_interleaved([one, other], [], 1)
    assert len(times) == 2 and min(times) >= 0 and order.index(1) < len(order) - 1 - order[::-1].index(0)

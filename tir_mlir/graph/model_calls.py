"""What a call of a model does once its inputs are known to fit: outputs are made, and the native function runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


def caller(
    run: Callable[..., None], makers: Sequence[Callable[[], Any]], weights: Any, arena: Any, inputs: int
) -> Callable[[Sequence[Any]], Any]:
    """A function of the inputs that runs `run(inputs..., outputs..., weights, arena)`, and returns the output, or a
    tuple of several. makers: what makes each output. inputs: their number."""
    if len(makers) != 1:
        return _of_several(run, makers, weights, arena)
    (make,) = makers
    if inputs == 1:
        return _of_one(run, make, weights, arena)

    def call(args: Sequence[Any]) -> Any:
        made = make()
        run(*args, made, weights, arena)
        return made

    return call


def _of_one(run: Callable[..., None], make: Callable[[], Any], weights: Any, arena: Any) -> Callable[..., Any]:
    """The same for one input and one output: no list of arguments is made, which takes 0.15 us."""

    def call(args: Sequence[Any]) -> Any:
        made = make()
        run(args[0], made, weights, arena)
        return made

    return call


def _of_several(
    run: Callable[..., None], makers: Sequence[Callable[[], Any]], weights: Any, arena: Any
) -> Callable[..., Any]:
    def call(args: Sequence[Any]) -> Any:
        made = tuple([make() for make in makers])
        run(*args, *made, weights, arena)
        return made

    return call

"""Table rows for tests of a kernel that is refused and the fix that the refusal names."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from tir_mlir import build
from tir_mlir.dialect.diagnostics import TirError

Make = Callable[[], Any]


def is_right(program: Any) -> None:
    """Check that a schedule computes, by its kernels on the PTX machine, what its program says."""
    assert program.verify(target="sm_80")


@dataclass(frozen=True)
class KernelRow:
    """The program that `refused` makes has no kernels for `target`: a refusal, or a warning if it `warns`, names `fix`.
    Each of `ways` makes it as the fix says, which `accepts` checks."""

    name: str
    refused: Make
    fix: str
    ways: tuple[Make, ...]
    target: Any = "sm_80"
    accepts: Callable[[Any], None] = is_right
    build: Callable[..., Any] = build
    warns: bool = False

    def follow(self) -> None:
        """Check that the refusal names the fix, and that the programs that follow it are built and right."""
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            if self.warns:
                self.build(self.refused(), target=self.target, cache=False)
                message = "\n".join(str(one.message) for one in told)
            else:
                with pytest.raises(TirError) as caught:
                    self.build(self.refused(), target=self.target)
                message = str(caught.value)
        assert self.fix in message, f"{self.fix!r} is not in {message!r}"
        for way in self.ways:
            self.accepts(way())

"""The parts of a language model that are compiled: programs, and the layers that run them with weights of their own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tir_mlir.graph.graph import Graph
from tir_mlir.graph.memory.buffer_assignment import ExecutionPlan
from tir_mlir.llm.native.rotary import Rotary
from tir_mlir.runtime.library import Library


@dataclass(frozen=True)
class CompiledProgram:
    """A compiled graph without the values of its weights."""

    graph: Graph
    plan: ExecutionPlan
    library: Library


@dataclass(frozen=True)
class CacheArray:
    """An array of a layer's cache: the name of the input; the heads of a sequence, the bytes of a position of one."""

    name: str
    heads: int
    bytes: int


@dataclass(frozen=True)
class CompiledLayer:
    """one: on a token of each sequence; chunk: on a chunk of one sequence. weights: the buffers of both."""

    one: CompiledProgram
    chunk: CompiledProgram
    weights: tuple[np.ndarray, np.ndarray]
    caches: tuple[CacheArray, ...] = ()


@dataclass(frozen=True)
class ModelLimits:
    """tokens: the vocabulary; context: the positions; chunk: the tokens of a prompt that are computed at a time; batch:
    the sequences that are computed at a time; model: the most positions that the model has, None: any number."""

    tokens: int
    context: int
    chunk: int
    batch: int = 1
    model: int | None = None


@dataclass(frozen=True)
class Rows:
    """The rows of tokens as they lie in a file, uint8 [tokens, bytes]. kind: how: a name of KINDS."""

    kind: str
    data: np.ndarray
    width: int


KINDS = (
    "F32", "F16", "BF16", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "IQ4_NL",
    "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "IQ4_XS",
)  # fmt: skip
"""In the order of loop.c."""


@dataclass(frozen=True)
class Parts:
    """All of a model.

    rotary: cosines and sines of positions.
    scored: the tokens whose scores a part of `scores` computes.
    threads: of the programs, None: one a core.
    """

    limits: ModelLimits
    rows: Rows
    rotary: Rotary
    layers: list[CompiledLayer]
    scores: list[CompiledLayer]
    scored: int
    threads: int | None = None

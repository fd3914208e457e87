"""The TensorIR functions of operators, found again in other graphs and made side by side."""

from __future__ import annotations

import pickle
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from tir_mlir.dialect.graph import TensorType
from tir_mlir.dialect.ir.memo import BoundedDict, given_operations
from tir_mlir.graph.operators import find_operator, foreign_operators
from tir_mlir.graph.size_code import GraphSizes
from tir_mlir.graph.units.operator_programs import Ranges, operator_program
from tir_mlir.graph.units.unit_queries import KIND, canonical_text, decode_result, encode_result, parse_canonical
from tir_mlir.runtime import workers
from tir_mlir.runtime.cache import fingerprint, store
from tir_mlir.script.module import PrimFunc

if TYPE_CHECKING:
    from tir_mlir.graph.operators.attributes import PlainAttribute


@dataclass(frozen=True)
class OperatorUse:
    """An operator on tensors of these types, or numbers, with the types that it makes of them, and the ranges of their
    sizes."""

    name: str
    attributes: Mapping[str, PlainAttribute]
    inputs: Sequence[TensorType | float]
    results: Sequence[TensorType]
    ranges: Ranges = ()

    @cached_property
    def key(self) -> Hashable:
        """What its function depends on."""
        attributes = repr(sorted(self.attributes.items()))
        return self.name, attributes, repr(self.inputs), tuple(self.results), tuple(self.ranges), given_operations()


_made: BoundedDict[Hashable, PrimFunc | list[int]] = BoundedDict()


def operator_functions(uses: Sequence[OperatorUse], cache: bool = False) -> list[PrimFunc | list[int]]:
    """The function of each use as `operator_program` makes it, to be copied; or, of an operator that returns inputs,
    their numbers. Errors: GraphError for operands that an operator does not take.

    One that this process asked for before is the same object; operators of users are made here.
    """
    foreign = frozenset(foreign_operators())
    own_uses = [use for use in uses if use.name not in foreign]
    ready = {use.key: _made[use.key] for use in own_uses if use.key in _made}
    missing = {use.key: use for use in own_uses if use.key not in ready}
    answers = workers.run([_task(use) for use in missing.values()], cache=cache)
    for key, answer in zip(missing, map(decode_result, answers), strict=True):
        ready[key] = _made[key] = answer if isinstance(answer, list) else parse_canonical(answer)
    return [_function(use) if use.name in foreign else ready[use.key] for use in uses]


def _task(use: OperatorUse) -> workers.Task:
    facts = use.name, dict(use.attributes), list(use.inputs), list(use.results), list(use.ranges)
    key = store.digest(fingerprint.installation(), fingerprint.package(), f"{__name__}:make", repr(use.key))
    return workers.Task(f"{__name__}:make", pickle.dumps(facts), KIND, key, use.name)


def make(payload: bytes) -> bytes:
    """The answer to one question of `operator_functions`."""
    function = _function(OperatorUse(*pickle.loads(payload)))
    return encode_result(function if isinstance(function, list) else canonical_text(function))


def _function(use: OperatorUse) -> PrimFunc | list[int]:
    find_operator(use.name)
    return operator_program(use.name, use.attributes, use.inputs, use.results, GraphSizes(), use.ranges)

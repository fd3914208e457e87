"""Ask the same question about several functions: as tasks of worker processes, whose answers are kept by content; and
start these early, so that they load what they will be asked for while this process goes on."""

from __future__ import annotations

import json
import pickle
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from mlir import ir

from tir_mlir.dialect.calls.function_texts import callees_in, function_text, module_of
from tir_mlir.dialect.ir import attrs, direct_ops, enter_context
from tir_mlir.dialect.ir.memo import given_operations
from tir_mlir.runtime import workers
from tir_mlir.runtime.cache import fingerprint, store
from tir_mlir.script.module import IRModule, PrimFunc
from tir_mlir.target import AnyTarget, resolved
from tir_mlir.targets.stages import BuildOptions

# The canonical text of a TensorIR function: equal functions of any models have equal text.


NAME = "f"
"""What a function is called there."""


def canonical_text(function: PrimFunc) -> str:
    """A function alone in a module, with what it calls, under one name, its ids counted from the first one, without
    locations. The name of a function of the text is `NAME`; `parsed` reads it."""
    with enter_context():
        scratch = ir.Module.create()
        with ir.InsertionPoint(scratch.body):
            copy = function.func.op.clone().operation
        text = _named_text(copy)
        if not callees_in(text):
            return module_of([text])
        alone = IRModule({NAME: function})
        _named_text(alone[NAME].func.op)
        return module_of([function_text(op) for op in direct_ops(alone.mlir.operation)])


def _named_text(op: ir.Operation) -> str:
    """Give a function the name of canonical texts, and print it."""
    op.attributes["sym_name"] = ir.StringAttr.get(NAME)
    facts = attrs.get(op, attrs.ATTRS, {})
    if facts.get("global_symbol", NAME) != NAME:
        attrs.put(op, attrs.ATTRS, {**facts, "global_symbol": NAME})
    return function_text(op)


def parse_canonical(text: str) -> PrimFunc:
    """The function of a canonical text."""
    with enter_context():
        return IRModule(ir.Module.parse(text))[NAME]


KIND = "functions"
"""The folder of the cache."""


@dataclass(frozen=True)
class UnitQuery:
    """A function, which `run` of the task gets as its canonical text, and what else the answer depends on, in JSON."""

    function: PrimFunc
    about: object = None


def run_unit(unit: str, questions: Sequence[UnitQuery], options: BuildOptions) -> list[Any]:
    """The answers, JSON, of a unit, "package.module:name", to questions, in order.

    A unit is a pure function of the bytes that `asked` reads; `answered` makes its result.
    """
    key = options_key(options)
    tasks = [_task(unit, question, options, key) for question in questions]
    return [decode_result(answer) for answer in workers.run(tasks, cache=options.cache)]


def _task(unit: str, question: UnitQuery, options: BuildOptions, asked_for: str) -> workers.Task:
    text = canonical_text(question.function)
    about = json.dumps(question.about)
    versions = fingerprint.installation(), fingerprint.package()
    key = store.digest(*versions, unit, asked_for, about, text, str(given_operations()))
    payload = pickle.dumps((text, question.about, options.target, options.threads))
    return workers.Task(unit, payload, KIND, key, question.function.name)


def decode_query(payload: bytes) -> tuple[str, Any, AnyTarget | str, int | None]:
    """What a unit is asked: the text of a function, what else there is to know, the target, and the threads."""
    return pickle.loads(payload)


def encode_result(answer: object) -> bytes:
    """The bytes of an answer, of what JSON has."""
    return json.dumps(answer).encode()


def decode_result(result: bytes) -> Any:
    """The answer of the bytes that `answered` made."""
    return json.loads(result)


def options_key(options: BuildOptions) -> str:
    """What functions are scheduled for, as text that is the same in every process."""
    target = options.target
    machine: Any = resolved(target)
    facts = [(f.name, getattr(machine, f.name)) for f in fields(machine)]
    plain = [(name, sorted(value) if isinstance(value, frozenset) else value) for name, value in facts]
    return f"{target if isinstance(target, str) else ''} {plain} {options.threads}"


_EACH = 0.05
"""CPU seconds of worker processes for an operator, about: to know whether they pay."""
WORK = (
    "tir_mlir.graph.units.operator_unit:make",
    "tir_mlir.graph.units.fusion_unit:facts",
    "tir_mlir.graph.units.panels_unit:pack",
    "tir_mlir.graph.units.schedule_unit:schedule",
    "tir_mlir.graph.units.memory_unit:scratch",
    "tir_mlir.targets.cpu.code_by_function:compile_unit",
)
"""What workers are asked for in a build."""


def start_workers(operators: int) -> None:
    """Start workers if they pay for a graph of about so many operators that is not in the cache."""
    workers.start(_EACH * operators, WORK)

"""Single nodes of ONNX as models, ours against ONNX's own evaluator, or against ONNX Runtime.

`PYTHONPATH=test python -m harness.onnx_operators [--newest] [--onnxruntime] [operators]` prints a table.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np
import onnx
from harness.onnx_cases import CASES, Case, Known
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import tir_mlir
from tir_mlir.dialect.diagnostics import GraphError

OUTSIDE = (
    "String", "Optional", "Random", "Multinomial", "Bernoulli", "ImageDecoder", "RegexFullMatch", "TfIdfVectorizer",
    "If", "Loop", "Scan", "SequenceMap",
)  # fmt: skip
"""Operators that are of strings or optionals, draw random numbers, or have bodies."""


def schemas() -> dict[str, list[int]]:
    """The operators of the default domain, with the opsets from 7 on in which their definition changed."""
    versions: dict[str, set[int]] = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.domain == "" and not schema.name.startswith(OUTSIDE):
            versions.setdefault(schema.name, set()).add(schema.since_version)
    return {
        name: sorted({max(v, 7) for v in since if v >= 7 or v == max((s for s in since if s <= 7), default=0)})
        for name, since in sorted(versions.items())
    }


def model(name: str, case: Case, opset: int) -> tuple[onnx.ModelProto, dict[str, np.ndarray]]:
    """A model of one node, and its inputs."""
    inputs, weights, names = {}, [], []
    for number, x in enumerate(case.operands):
        names.append("" if x is None else f"x{number}")
        if isinstance(x, Known):
            weights.append(numpy_helper.from_array(x.array, names[-1]))
        elif x is not None:
            inputs[names[-1]] = x
    results = [f"y{n}" for n in range(case.outputs)]
    node = helper.make_node(name, names, results, **case.attrs)
    infos = [
        helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape) for n, x in inputs.items()
    ]
    found = [helper.make_value_info(n, onnx.TypeProto()) for n in results]
    graph = helper.make_graph([node], "g", infos, found, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8), inputs


Evaluator = Callable[[onnx.ModelProto, "dict[str, np.ndarray]"], "list[np.ndarray]"]


def reference(proto: onnx.ModelProto, inputs: dict[str, np.ndarray]) -> list[np.ndarray]:
    """The results by ONNX's own evaluator."""
    with np.errstate(all="ignore"):
        return ReferenceEvaluator(proto).run(None, inputs)  # pyright: ignore[reportReturnType]


def onnx_runtime(proto: onnx.ModelProto, inputs: dict[str, np.ndarray]) -> list[np.ndarray]:
    """The results by ONNX Runtime, as the nodes are."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level, options.intra_op_num_threads = 4, 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, inputs)


def verdict(name: str, case: Case, opset: int, evaluate: Evaluator = reference) -> tuple[str, str]:
    """("passes", ""), or "refused", "wrong", "crashed", "no reference" with why."""
    proto, inputs = model(name, case, opset)
    try:
        wanted = evaluate(proto, inputs)
    except Exception as error:  # noqa: BLE001 - of any kind
        return "no reference", f"{type(error).__name__}: {error}"
    try:
        ran = tir_mlir.build(tir_mlir.from_onnx(proto), threads=1, optimize="fast")(*inputs.values())
    except GraphError as error:
        return "refused", str(error)
    except Exception as error:  # noqa: BLE001 - of any kind
        return "crashed", f"{type(error).__name__}: {error}"
    return compared(list(ran) if isinstance(ran, (tuple, list)) else [ran], wanted)


def compared(ours: list[np.ndarray], wanted: list[np.ndarray]) -> tuple[str, str]:
    for x, y in zip(ours, wanted, strict=True):
        y = np.asarray(y)
        if x.dtype != y.dtype or x.shape != y.shape:
            return "wrong", f"{x.dtype} {x.shape}, not {y.dtype} {y.shape}"
        exact = y.dtype.kind in "iub"
        same = np.array_equal(x, y) if exact else np.allclose(x, y, rtol=1e-4, atol=1e-5, equal_nan=True)
        if not same:
            return "wrong", f"{x.ravel()[:6]}, not {y.ravel()[:6]}"
    return "passes", ""


def rows(
    names: list[str], every: bool = True, evaluate: Evaluator = reference
) -> Iterator[tuple[str, int, int, str, str]]:
    """(operator, opset, number of the case, verdict, why). every: each version of an operator, not only the newest."""
    for name, opsets in schemas().items():
        if names and name not in names:
            continue
        cases = CASES.get(name, [])
        for opset in opsets if every else opsets[-1:]:
            until = min((v for v in opsets if v > opset), default=10**6) - 1
            for number, case in enumerate(cases):
                if case.since <= until and case.until >= opset:
                    at = max(case.since, opset)
                    yield name, at, number, *verdict(name, case, at, evaluate)
        if not cases:
            yield name, 0, 0, "no case", ""


def main() -> None:
    every, evaluate = "--newest" not in sys.argv, onnx_runtime if "--onnxruntime" in sys.argv else reference
    tables: dict[str, Counter[str]] = {}
    names = [a for a in sys.argv[1:] if a[0] != "-"]
    for name, opset, number, kind, why in rows(names, every, evaluate):
        tables.setdefault(name, Counter())[kind] += 1
        if kind != "passes":
            line = (why.splitlines() or [""])[min(1, why.count("\n"))]
            print(f"{name} opset {opset} case {number}: {kind}: {line}", flush=True)
    for name, counts in tables.items():
        print(f"{name:28}", dict(counts))
    clean = [name for name, c in tables.items() if set(c) <= {"passes", "no reference"} and c["passes"]]
    print(
        f"{len(clean)} of {len(tables)} operators pass all cases", sum((Counter(c) for c in tables.values()), Counter())
    )


if __name__ == "__main__":
    main()

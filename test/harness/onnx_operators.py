"""Single nodes of ONNX as models, ours against ONNX's own evaluator, or against ONNX Runtime.

`PYTHONPATH=test python -m harness.onnx_operators [--newest] [--onnxruntime] [operators]` prints a table; that of all
versions and element types against ONNX Runtime is `harness.onnx_table`.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import onnx
from harness.onnx_cases import CASES, Case, Known
from onnx import TensorProto, helper, numpy_helper
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


def model(
    name: str, case: Case, opset: int, casts: Sequence[int] = (), kind: int = 0
) -> tuple[onnx.ModelProto, dict[str, np.ndarray]]:
    """A model of one node, and its inputs. casts: operands that the node gets in a type that NumPy has not, `kind`;
    its results are cast to float32 then."""
    inputs, weights, names, nodes = {}, [], [], []
    for number, x in enumerate(case.operands):
        names.append("" if x is None else f"x{number}")
        if isinstance(x, Known):
            weights.append(numpy_helper.from_array(x.array, names[-1]))
        elif x is not None:
            inputs[names[-1]] = x
        if number in casts:
            nodes.append(helper.make_node("Cast", [names[-1]], [f"t{number}"], to=kind))
            names[-1] = f"t{number}"
    results = [f"y{n}" for n in range(case.outputs)]
    inner = [f"u{n}" for n in range(case.outputs)] if casts else results
    nodes.append(helper.make_node(name, names, inner, **case.attrs))
    nodes += [
        helper.make_node("Cast", [a], [b], to=TensorProto.FLOAT) for a, b in zip(inner, results, strict=False) if a != b
    ]
    infos = [
        helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape) for n, x in inputs.items()
    ]
    found = [helper.make_value_info(n, onnx.TypeProto()) for n in results]
    graph = helper.make_graph(nodes, "g", infos, found, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10), inputs


OF_LATER_VERSIONS = {("Dropout", 10), ("RoiAlign", 10), *((n, v) for n in ("LogSoftmax", "Softmax") for v in (7, 11))}
"""Versions of operators that ONNX's own evaluator computes as later ones; ONNX Runtime has them."""
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


def verdict(
    name: str, case: Case, opset: int, evaluate: Evaluator = reference, casts: Sequence[int] = (), kind: int = 0
) -> tuple[str, str]:
    """("passes", ""), or "undefined", "refused", "wrong", "crashed", "no reference" with why."""
    if evaluate is reference and (name, opset) in OF_LATER_VERSIONS:
        return "no reference", "ONNX's own evaluator computes a later version"
    proto, inputs = model(name, case, opset, casts, kind)
    try:
        wanted = evaluate(proto, inputs)
    except Exception as error:
        return "no reference", f"{type(error).__name__}: {error}"
    try:
        ran = tir_mlir.build(tir_mlir.from_onnx(proto), threads=1, optimize="fast")(*inputs.values())
    except GraphError as error:
        return "refused", str(error)
    except Exception as error:
        return "crashed", f"{type(error).__name__}: {error}"
    results = list(ran) if isinstance(ran, (tuple, list)) else [ran]
    found = compared(results, wanted, kind)
    if found[0] != "wrong":
        return found
    known = undefined(name, case, ran, wanted[0])
    return known or (found if evaluate is reference else by_the_standard(proto, inputs, results, found, kind))


def by_the_standard(
    proto: onnx.ModelProto, inputs: dict[str, np.ndarray], ours: list[np.ndarray], found: tuple[str, str], kind: int
) -> tuple[str, str]:
    """Wrong, or "peer differs" where the results are those of ONNX's own evaluator, or integers beside what it computes
    of the same numbers as floats: ONNX says of no Resize how integers are rounded."""
    try:
        agrees = compared(ours, reference(proto, inputs), kind)[0] == "passes"
        if not agrees and proto.graph.node[0].op_type == "Resize" and ours[0].dtype.kind in "iu":
            floats = onnx.ModelProto.FromString(proto.SerializeToString())
            floats.graph.input[0].type.tensor_type.elem_type = TensorProto.FLOAT
            exact = reference(floats, {name: x.astype("float32") for name, x in inputs.items()})[0]
            agrees = bool(np.all(np.abs(ours[0] - exact) <= 1))
    except Exception:
        return found
    return ("peer differs", f"equal to ONNX's evaluator; {found[1]}") if agrees else found


def compared(ours: list[np.ndarray], wanted: list[np.ndarray], kind: int = 0) -> tuple[str, str]:
    """Integers exactly, floats within what their types round. kind: the element type that the node computed in."""
    for x, y in zip(ours, wanted, strict=True):
        y = np.asarray(y)
        if x.dtype != y.dtype or x.shape != y.shape:
            return "wrong", f"{x.dtype} {x.shape}, not {y.dtype} {y.shape}"
        exact = y.dtype.kind in "iub"
        within = 2e-2 if kind == TensorProto.BFLOAT16 else 5e-3 if y.dtype == np.float16 else 1e-4
        about = within / 10 if within == 1e-4 else within  # of halves the terms of a sum are rounded, too
        same = np.array_equal(x, y) if exact else np.allclose(x, y, rtol=within, atol=about, equal_nan=True)
        if not same:
            apart = np.argwhere(~np.isclose(x.astype("f8"), y.astype("f8"), rtol=within, atol=about))[:4]
            return "wrong", f"at {apart.tolist()}: {x.ravel()[:6]}, not {y.ravel()[:6]}"
    return "passes", ""


def undefined(name: str, case: Case, ours: Any, wanted: np.ndarray) -> tuple[str, str] | None:
    """ "undefined" for results that differ only where the standard says nothing.

    https://onnx.ai/onnx/operators/onnx__Cast.html: from floating point to fixed point, "undefined if OOR" (out of
    range), and infinities and NaN have no number there either.
    """
    if name not in ("Cast", "CastLike") or wanted.dtype.kind not in "iu" or not isinstance(ours, np.ndarray):
        return None
    x, limits = case.operands[0], np.iinfo(wanted.dtype)
    x = np.asarray(x.array if isinstance(x, Known) else x)
    if x.dtype.kind != "f" or ours.shape != wanted.shape:
        return None
    whole = np.trunc(x.astype("float64"))
    inside = (whole >= float(limits.min)) & (whole < float(limits.max) + 1)
    if not np.array_equal(ours[inside], wanted[inside]):
        return None
    return "undefined", "floats that are out of the range of the integers; onnx__Cast.html: undefined"


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
    names = [a for a in sys.argv[1:] if a[0] != "-"]
    tables: dict[str, Counter[str]] = {}
    for name, opset, number, kind, why in rows(names, every, evaluate):
        tables.setdefault(name, Counter())[kind] += 1
        tell(f"{name} opset {opset} case {number}", kind, why)
    report(tables)


def tell(where: str, kind: str, why: str, silent: Sequence[str] = ()) -> None:
    """A line for a case that does not pass: the second line of a refusal has the node."""
    if kind not in ("passes", *silent):
        lines = why.splitlines() or [""]
        print(f"{where}: {kind}: {lines[min(1, len(lines) - 1)]}", flush=True)


def report(tables: dict[str, Counter[str]]) -> None:
    """How often each verdict was given, by operator and in all."""
    for name, counts in tables.items():
        print(f"{name:28}", dict(counts))
    clean = [name for name, c in tables.items() if set(c) <= {"passes", "undefined", "no reference"} and c["passes"]]
    print(
        f"{len(clean)} of {len(tables)} operators pass all cases", sum((Counter(c) for c in tables.values()), Counter())
    )


if __name__ == "__main__":
    main()

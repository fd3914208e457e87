"""Every record of a scalar function: compiled code and the interpreter compute its Python function, and C spells it."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from harness import ROOT

from tir_mlir import Schedule, build, te, topi
from tir_mlir.dialect.ops import MLIR_OPS, SCALAR_FUNCTIONS, ScalarFunction
from tir_mlir.interpreter import interpret
from tir_mlir.script import parse
from tir_mlir.script import tir as T

UNARY = {one.name: one for one in SCALAR_FUNCTIONS.values() if one.params == ("x",) and one.takes == "floats"}
LENGTH = 4096
PROGRAM = """
@T.prim_func
def main(X: T.Buffer(({length},), "float32"), {params}):
    for i in range({length}):
{blocks}
"""
BLOCK = """
        with T.block("Y{n}"):
            vi = T.axis.spatial({length}, i)
            Y{n}[vi] = T.{name}(X[vi])"""


def _program(names: list[str], length: int) -> Any:
    params = [f'Y{n}: T.Buffer(({length},), "{_dtype(UNARY[name])}")' for n, name in enumerate(names)]
    blocks = "".join(BLOCK.format(n=n, name=name, length=length) for n, name in enumerate(names))
    return parse(PROGRAM.format(length=length, params=", ".join(params), blocks=blocks))


def _dtype(one: ScalarFunction) -> str:
    return "bool" if one.predicate else "float32"


def _samples() -> np.ndarray:
    """Numbers of all magnitudes, of -1..1, small integers and their halves, and what is not a number."""
    random = np.random.default_rng(3)
    wide = random.standard_normal(LENGTH // 4) * 10.0 ** random.uniform(-6, 6, LENGTH // 4)
    near = [random.uniform(-1, 1, LENGTH // 4), random.uniform(-20, 20, LENGTH // 4)]
    steps = np.arange(LENGTH // 4 - 8) / 2 - 200
    ends = [0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 1e-40]
    return np.concatenate([wide, *near, steps, ends]).astype("float32")


def _meaning(one: ScalarFunction, *operands: float) -> float:
    if one.by:
        return eval(one.by, {"T": _Functions(), **dict(zip(one.params, operands, strict=True))})
    assert one.on_floats is not None and one.on_floats.python is not None
    try:
        return one.on_floats.python(*operands)
    except ValueError:
        return math.nan
    except OverflowError:
        return math.inf


class _Functions:
    """`T`, of Python's floats."""

    def __getattr__(self, name: str) -> Callable[..., float]:
        return lambda *operands: _meaning(SCALAR_FUNCTIONS[name], *operands)


@pytest.fixture(scope="module")
def computed() -> dict[str, np.ndarray]:
    names, x = list(UNARY), _samples()
    results = {name: np.zeros(LENGTH, _dtype(UNARY[name])) for name in names}
    build(Schedule(_program(names, LENGTH)))(x, *results.values())
    return results


@pytest.mark.parametrize("name", UNARY)
def test_compiled_code_is_within_the_error_that_the_record_says(name, computed):
    one, x, got = UNARY[name], _samples(), computed[name]
    exact = np.array([_meaning(one, float(v)) for v in x])
    if one.predicate:
        np.testing.assert_array_equal(got, exact.astype(bool))
        return
    with np.errstate(over="ignore"):
        rounded = exact.astype("float32")
    np.testing.assert_array_equal(np.signbit(got[rounded == 0]), np.signbit(rounded[rounded == 0]))
    special = ~np.isfinite(rounded) | ~np.isfinite(got)
    np.testing.assert_array_equal(got[special], rounded[special])
    unit = np.spacing(np.maximum(np.abs(rounded), np.finfo("float32").tiny)).astype("float64")
    x, got, exact, unit = (array[~special] for array in (x, got.astype("float64"), exact, unit))
    error = np.abs(got - exact) / unit
    if one.by:  # where one of the functions in it overflows, the result is 0
        error[np.abs(exact) < np.finfo("float32").tiny] = 0
    assert error.max() <= one.ulps, f"{error.max():.3f} at {x[error.argmax()]}"


def test_the_interpreter_computes_the_python_functions():
    names = [name for name, one in UNARY.items() if not one.by]
    x = np.ascontiguousarray(_samples()[:: LENGTH // 64])
    results = [np.zeros(len(x), _dtype(UNARY[name])) for name in names]
    interpret(_program(names, len(x)), x, *results)
    for name, got in zip(names, results, strict=True):
        with np.errstate(over="ignore"):
            wanted = np.array([_meaning(UNARY[name], float(v)) for v in x]).astype(got.dtype)
        np.testing.assert_array_equal(got, wanted, name)


def test_c_spells_every_function():
    spelled = {name: one.on_floats.c for name, one in UNARY.items() if one.on_floats and one.on_floats.c}
    sch = Schedule(_program(list(spelled), 32))
    sch.bind(sch.get_loops("Y0")[0], "threadIdx.x")
    source = build(sch, target="opencl").source
    assert not [c for c in spelled.values() if f"{c}(" not in source]


def test_each_has_its_words():
    for one in SCALAR_FUNCTIONS.values():
        assert hasattr(T, one.name), one.name
        assert all(hasattr(te, name) for name in one.te_names), one.name
        assert not one.topi or hasattr(topi, one.topi), one.name
        assert one.doc.rstrip().endswith((".", "]")), one.name


def test_a_record_of_an_op_is_the_only_one():
    rows = [op for one in SCALAR_FUNCTIONS.values() for op in (one.on_floats, one.on_integers) if op]
    assert all(MLIR_OPS[op.name] is op for op in rows)


def test_stubs_are_up_to_date():
    sys.path.insert(0, str(ROOT / "tools"))
    import scalar_stubs

    for name in scalar_stubs.MODULES:
        path = (ROOT / name.replace(".", "/")).with_suffix(".pyi")
        assert path.read_text(encoding="utf-8") == scalar_stubs.stub(name), f"make manual writes {path.name} again"

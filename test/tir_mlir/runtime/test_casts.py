"""Each type cast to each other one: what the code calls is there on every CPU, and the numbers are right."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from programs.parsed import parse
from programs.short import each, main

from tir_mlir import build
from tir_mlir.target.predefined import AVX2, SSE2

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
TYPES = ("bool", *INTEGERS, "float16", "bfloat16", "float32", "float64")
WITHOUT_F16C = replace(AVX2, cpu="x86-64", features=AVX2.features - {"f16c"})
HALVES = [0.0, -0.0, 1.0, -2.5, 65504.0, 65519.9, 65520.0, 1e-8, 6e-8, 1 + 2**-11, 1 + 3 * 2**-11, 1 + 2**-11 + 2**-40]
N = 24


def program(source: str) -> str:
    """A function of a vector of a type and one of each other type: each gets the first one cast, in two loops: of
    vectors, and of single elements."""
    others = [t for t in TYPES if t != source]
    params = ", ".join(f'Y_{t}: T.Buffer(({2 * N},), "{t}")' for t in others)
    lines = ["@T.prim_func", f'def of_{source}(X: T.Buffer(({N},), "{source}"), {params}):']
    for number, loop in enumerate((f"T.vectorized({N})", f"range({N})")):
        for t in others:
            lines += [
                f"    for i in {loop}:",
                f'        with T.block("{t}_{number}"):',
                f"            vi = T.axis.spatial({N}, i)",
                f'            Y_{t}[vi + {number * N}] = T.Cast("{t}", X[vi])',
            ]
    return "\n".join(lines)


def values(source: str) -> np.ndarray:
    """Numbers that every type but bool holds, then, of floats, what rounds in a narrower one."""
    small = [*range(12), *range(100, 112)]
    if not source.startswith(("f", "bf")):
        return np.array(small).astype(source)
    return np.array([*small[: N - len(HALVES)], *HALVES])


def rounded(numbers: np.ndarray, dtype: str) -> np.ndarray:
    """The numbers in a type, as float64 or integers; bfloat16 by torch's rounding of NumPy's own bits."""
    if dtype != "bfloat16":
        return numbers.astype(dtype)
    torch = pytest.importorskip("torch")
    return torch.from_numpy(numbers).to(torch.bfloat16).to(torch.float64).numpy()


def stored(numbers: np.ndarray, dtype: str) -> np.ndarray:
    """The array that is passed: bfloat16 as its bits."""
    if dtype != "bfloat16":
        return numbers.astype(dtype)
    return (numbers.astype("float32").view("uint32") >> 16).astype("uint16")


def loaded(array: np.ndarray, dtype: str) -> np.ndarray:
    return (array.astype("uint32") << 16).view("float32").astype("float64") if dtype == "bfloat16" else array


def test_the_tools_driver_has_the_conversions_too():
    source = main("X:8:float64 Y:8:float16", each("Y", "Y[vi] = T.Cast('float16', X[vi])"), name="f")
    x, y = np.linspace(-3, 3, 8), np.zeros(8, "float16")
    build(parse(source), driver="tools")(x, y)
    np.testing.assert_array_equal(y, x.astype("float16"))


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "target",
    ["llvm", pytest.param(SSE2, marks=pytest.mark.slow), pytest.param(WITHOUT_F16C, marks=pytest.mark.nightly)],
    ids=["this CPU", "SSE2", "AVX2 without F16C"],
)
def test_each_pair_of_types(target):
    lib = build(parse("\n\n".join(map(program, TYPES))), target=target)
    for source in TYPES:
        given = rounded(values(source), source)
        with np.errstate(over="ignore"):
            results = {t: stored(np.zeros(2 * N), t) for t in TYPES if t != source}
            lib[f"of_{source}"](stored(given, source), *results.values())
            for t, array in results.items():
                exact = given.astype("float64") if t == "bfloat16" else given
                wanted = rounded(exact, t)
                fits = (given >= 0) & (given < 128) if t in INTEGERS else np.isfinite(given) | (t != "bool")
                for half in (array[:N], array[N:]):
                    np.testing.assert_array_equal(loaded(half, t)[fits], wanted[fits], err_msg=f"{source} to {t}")

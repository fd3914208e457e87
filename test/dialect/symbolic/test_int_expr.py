"""Integer expressions beside Python: text, normal form, equality, affine and isl forms, C and JavaScript."""

from __future__ import annotations

import pickle
from collections.abc import Callable

import islpy as isl
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import given as given_any
from hypothesis import strategies as st
from hypothesis.internal.conjecture import providers
from mlir import ir

from tir_mlir.dialect.diagnostics import GraphError, NotAffine
from tir_mlir.dialect.ir import enter_context
from tir_mlir.dialect.presburger import dim_type, local_space, recover, to_aff
from tir_mlir.dialect.symbolic import (
    Constant,
    IntExpr,
    Operation,
    Polynomial,
    Symbol,
    c_code,
    equal,
    evaluate,
    from_affine,
    is_nonnegative,
    js_code,
    names_in,
    operation,
    parse,
    to_affine,
)

NAMES = ("n", "m", "k")
SIZES = st.fixed_dictionaries(dict.fromkeys(NAMES, st.integers(0, 40)))
LEAVES = st.sampled_from(NAMES).map(Symbol) | st.integers(0, 9).map(Constant)


def _extended(parts: st.SearchStrategy[IntExpr]) -> st.SearchStrategy[IntExpr]:
    divisions = st.tuples(st.sampled_from(["//", "%"]), parts, st.integers(1, 9).map(Constant))
    return st.tuples(st.sampled_from("+-*"), parts, parts).map(lambda p: operation(*p)) | divisions.map(
        lambda p: operation(*p)
    )


EXPRESSIONS = st.recursive(LEAVES, _extended, max_leaves=12)
_SETTINGS = settings(
    derandomize=True, database=None, deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=150
)
# constants of all modules that are loaded would take each worker 12 s, and make other arguments in each
providers._get_local_constants = lambda: providers._local_constants  # type: ignore[assignment]


def given(*strategies: st.SearchStrategy) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """The same random arguments in every run."""
    return lambda test: _SETTINGS(given_any(*strategies)(test))


def _short(expr: IntExpr) -> IntExpr:
    return Polynomial.from_expr(expr).expr()


def value(expr: IntExpr, sizes: dict[str, int]) -> int:
    return evaluate(expr, sizes.__getitem__)


def python(expr: IntExpr, sizes: dict[str, int]) -> int:
    return eval(str(expr), {}, dict(sizes))


@given(EXPRESSIONS, SIZES)
def test_text_is_that_of_python(expr, sizes):
    assert value(expr, sizes) == python(expr, sizes)
    assert parse(str(expr)) == parse(str(parse(str(expr))))
    assert value(parse(str(expr)), sizes) == python(expr, sizes)
    assert equal(parse(str(expr)), expr)


@given(EXPRESSIONS, SIZES)
def test_the_normal_form_has_the_value(expr, sizes):
    short = _short(expr)
    assert value(short, sizes) == value(expr, sizes)
    assert _short(short) == short
    assert equal(short, expr)


@given(EXPRESSIONS, EXPRESSIONS, SIZES)
def test_what_is_equal_has_equal_values(left, right, sizes):
    if equal(left, right):
        assert value(left, sizes) == value(right, sizes)
    assert equal(left + right, right + left)
    assert equal((left + right) * left, left * left + left * right)
    assert not equal(left, left + 1)


@given(EXPRESSIONS, st.integers(1, 9))
def test_digits_are_equal_to_their_number(expr, base):
    assert equal(expr // base * base + expr % base, expr)
    assert equal((expr * base) // base, expr)
    assert equal((expr * (2 * base) + base) // (4 * base), (expr * 2 + 1) // 4)


@given(EXPRESSIONS, SIZES)
def test_what_is_not_negative_is_not(expr, sizes):
    if is_nonnegative(expr):
        assert value(expr, sizes) >= 0


@given(EXPRESSIONS, EXPRESSIONS)
def test_an_exact_quotient_is_a_factor(left, right):
    one, other = Polynomial.from_expr(left), Polynomial.from_expr(right)
    quotient = (one * other).exact_quotient(other)
    assert quotient == one if other.terms else quotient is None
    if (quotient := one.exact_quotient(other)) is not None:
        assert quotient * other == one


@given(EXPRESSIONS, SIZES)
def test_the_affine_form_and_back(expr, sizes):
    with enter_context():
        dims = {name: ir.AffineExpr.get_dim(n) for n, name in enumerate(NAMES)}
        try:
            affine = to_affine(expr, lambda leaf: dims[leaf.name])
        except NotAffine:
            return
        back = from_affine(affine, [Symbol(name) for name in NAMES])
        assert value(back, sizes) == value(expr, sizes)
        assert equal(back, expr)
        simple = ir.AffineExpr.simplify_affine_expr(affine, len(NAMES), 0)
        assert equal(from_affine(simple, [Symbol(name) for name in NAMES]), expr)  # whatever MLIR shows is shown


@given(EXPRESSIONS, SIZES)
def test_the_isl_form_and_back(expr, sizes):
    with enter_context():
        dims = {name: ir.AffineExpr.get_dim(n) for n, name in enumerate(NAMES)}
        try:
            affine = to_affine(expr, lambda leaf: dims[leaf.name])
        except NotAffine:
            return
        local = local_space(len(NAMES), [])
        zero = isl.Aff.zero_on_domain(local)
        aff = to_aff(affine, [isl.Aff.var_on_domain(local, dim_type.set, n) for n in range(len(NAMES))], zero)
        back = from_affine(recover(aff, list(dims.values()), len(NAMES)), [Symbol(name) for name in NAMES])
    assert value(back, sizes) == value(expr, sizes)


def _c_value(text: str, sizes: dict[str, int]) -> int:
    """The value of C: quotients round to zero."""

    class Int(int):
        def __add__(self, other): return Int(int(self) + int(other))  # fmt: skip

        def __sub__(self, other): return Int(int(self) - int(other))  # fmt: skip

        def __mul__(self, other): return Int(int(self) * int(other))  # fmt: skip

        def __truediv__(self, other): return Int(int(abs(self) // abs(other)) * (1 if self >= 0 else -1))  # fmt: skip

        def __mod__(self, other): return Int(int(self) - int(self / Int(other)) * int(other))  # fmt: skip

    import re

    return int(eval(re.sub(r"\b(\d+|[a-z])\b", r"Int(\1)", text), {"Int": Int}, dict(sizes)))


@given(EXPRESSIONS, SIZES)
def test_c_code_rounds_down(expr, sizes):
    assert _c_value(c_code(expr), sizes) == value(expr, sizes)


def test_code_of_other_languages():
    expr = parse("(n + 1) * m // 2")
    assert c_code(expr) == "(((n + 1) * m) / 2)"
    assert js_code(expr) == 'Math.floor(((n["n"] + 1) * n["m"]) / 2)'
    assert c_code(parse("(n - 3) // 2 + 1")) == "(((n - 3) / 2 - ((n - 3) % 2 < 0)) + 1)"
    assert js_code(parse("(n - 3) % 2")) == '(((n["n"] - 3) % 2 + 2) % 2)'


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("n + 2 - 2", "n"),
        ("2 * m * n + 4 - n", "m * 2 * n + 4 - n"),
        ("1 - n", "1 - n"),
        ("(4 * n + 6) // 4", "n + 1"),
        ("(n + 17) // 16", "(n + 1) // 16 + 1"),
        ("(6 * n + 9) // 4", "n * 3 // 2 + 2"),
        ("(n + 17) % 16", "(n + 1) % 16"),
        ("n * 0", "0"),
        ("(n + 1) * (n - 1)", "n * n - 1"),
    ],
)
def test_simplified(text, short):
    assert str(_short(parse(text))) == short


def test_a_number_is_folded():
    assert parse("2 * 3 + 1") == Constant(7)
    assert parse(7) == Constant(7)
    assert str(parse("7 // 0")) == "7 // 0"


@pytest.mark.parametrize("text", ["n ** 2", "f(n)", "n / 2", "n +", "1.5", "n[0]", "(" * 300])
def test_other_python_is_refused(text):
    with pytest.raises(GraphError, match="a size is a number, a name, or sums and products of them"):
        parse(text)


def test_an_expression_is_pickled_without_its_hash():
    expr = parse("n // 2 + m")
    hash(expr)
    again = pickle.loads(pickle.dumps(expr))
    assert again == expr and again._hash is None and hash(again) == hash(expr)


def test_names():
    assert names_in(parse("n * (m + 1) - n")) == {"n", "m"}
    assert isinstance(parse("n * m"), Operation)

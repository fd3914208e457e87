"""`tvm.testing`: fixtures, requirements and test classes, on top of pytest."""

from __future__ import annotations

import importlib.util
import inspect
import itertools
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NoReturn, TypeVar

from tir_mlir.compat.equality import assert_structural_equal
from tir_mlir.dialect.diagnostics import ArgumentError
from tir_mlir.script.module import IRModule, PrimFunc
from tir_mlir.script.parser import ClassMember, build, parse

if TYPE_CHECKING:
    import pytest

Test = TypeVar("Test")
_rows = itertools.count()


def main() -> NoReturn:
    """Run the tests of the calling file."""
    import pytest

    sys.exit(pytest.main([sys._getframe(1).f_code.co_filename, *sys.argv[1:]]))


# --- parameters -------------------------------------------------------------------------------------------------------


def parameter(*values: object, ids: Sequence[str] | None = None, by_dict: Mapping[str, object] | None = None) -> object:
    """A fixture parametrized over these values; `by_dict` maps their ids to them."""
    import pytest

    if by_dict is not None:
        values, ids = tuple(by_dict.values()), list(by_dict)
    if not values:
        raise ArgumentError("tvm.testing.parameter needs values: the tests that use it would not run")

    @pytest.fixture(params=values, ids=ids)
    def value(*_: object, request: pytest.FixtureRequest) -> object:  # `*_`: self, if in a class
        return request.param

    return value


def parameters(*rows: Sequence[object], ids: Sequence[str] | None = None) -> list[object]:
    """Fixtures parametrized together, one for each column of the rows.

    `size, kind = tvm.testing.parameters((16, "a"), (32, "b"))` runs a test of both of them twice.
    """
    import pytest

    if not rows or len({len(row) for row in rows}) != 1:
        raise ArgumentError("tvm.testing.parameters takes rows of equal length, with one value per name")
    shared = f"tvm_testing_row_{next(_rows)}"  # an additional fixture
    labels = ids or ["-".join(str(v) for v in row) for row in rows]
    sys._getframe(1).f_locals[shared] = parameter(*rows, ids=labels)

    def column(number: int) -> object:
        def value(*_: object, **fixtures: Sequence[object]) -> object:
            return fixtures[shared][number]

        words = ("_", inspect.Parameter.VAR_POSITIONAL), (shared, inspect.Parameter.KEYWORD_ONLY)
        value.__signature__ = inspect.Signature([inspect.Parameter(*word) for word in words])  # type: ignore[attr-defined]
        return pytest.fixture(value)

    return [column(number) for number in range(len(rows[0]))]


def fixture(func: Callable[..., object] | None = None, *, cache_return_value: bool = False) -> object:
    """A pytest fixture; with `cache_return_value`, of session scope."""
    import pytest

    decorator = pytest.fixture(scope="session") if cache_return_value else pytest.fixture
    return decorator if func is None else decorator(func)


# --- requirements -----------------------------------------------------------------------------------------------------


def requires_llvm(*test: Test, **_: object) -> Test | Callable[[Test], Test]:
    """Return the test unchanged, as LLVM is always available."""
    return test[0] if test else lambda func: func


def requires_gpu(*test: Test, **_: object) -> Test | pytest.MarkDecorator:
    """Skip a test: programs run on the CPU."""
    import pytest

    mark = pytest.mark.skip(reason="programs run on the CPU here")
    return mark(test[0]) if test else mark


def requires_package(*packages: str) -> pytest.MarkDecorator:
    """Skip a test if a Python package is missing."""
    import pytest

    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    return pytest.mark.skipif(bool(missing), reason=f"needs {', '.join(missing)}")


# --- transformations --------------------------------------------------------------------------------------------------


class CompareBeforeAfter:
    """A test class: applying `transform` to `before` must produce `expected`.

    `before` and `expected` are programs (undecorated functions are parsed), fixtures, or methods that return one;
    `expected` may also be an exception type. `transform` returns a function on modules.
    """

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        for name in ("before", "expected"):
            if name in vars(cls):
                setattr(cls, name, _program_fixture(vars(cls)[name]))
        if "transform" in vars(cls):
            cls.transform = _fixture_of(vars(cls)["transform"])  # type: ignore[attr-defined]

    def test_compare(
        self,
        before: IRModule | PrimFunc,
        expected: IRModule | PrimFunc | type[BaseException],
        transform: Callable[[IRModule], IRModule],
    ) -> None:
        """Apply the transformation and compare."""
        import pytest

        module = IRModule({"main": before}) if isinstance(before, PrimFunc) else before
        if isinstance(expected, type):
            with pytest.raises(expected):
                transform(module)
            return
        transformed = transform(module)
        assert_structural_equal(transformed["main"] if isinstance(expected, PrimFunc) else transformed, expected)


def _program_fixture(member: object) -> object:
    """Convert a member of a test class to a fixture that returns a program or an exception type."""
    if isinstance(member, ClassMember):
        member = build([member.program])[member.program.name]
    if inspect.isfunction(member) and next(iter(inspect.signature(member).parameters), "") != "self":
        member = parse(member)[member.__name__]
    return _fixture_of(member)


def _fixture_of(member: object) -> object:
    """Convert a method or a value to a fixture; fixtures are unchanged."""
    import pytest

    if inspect.isfunction(member):
        return pytest.fixture(member)
    is_fixture = type(member).__module__.startswith("_pytest") or hasattr(member, "_pytestfixturefunction")
    return member if is_fixture else pytest.fixture(lambda *_: member)

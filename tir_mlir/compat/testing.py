"""`tvm.testing`: what TVM's own way of writing tests needs of pytest."""

from __future__ import annotations

import importlib.util
import inspect
import itertools
import sys
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from tir_mlir.compat.equality import assert_structural_equal
from tir_mlir.dialect.diagnostics import ArgumentError
from tir_mlir.script.module import IRModule, PrimFunc
from tir_mlir.script.parser import ClassMember, build, parse

_rows = itertools.count()


def main() -> NoReturn:
    """Run the tests of the file that calls this."""
    import pytest

    sys.exit(pytest.main([sys._getframe(1).f_code.co_filename, *sys.argv[1:]]))


# --- values of tests --------------------------------------------------------------------------------------------------


def parameter(*values: Any, ids: Any = None, by_dict: Mapping[str, Any] | None = None) -> Any:
    """A fixture with these values, one after the other; `by_dict` has their names as keys."""
    import pytest

    if by_dict is not None:
        values, ids = tuple(by_dict.values()), list(by_dict)
    if not values:
        raise ArgumentError("tvm.testing.parameter needs values: the tests that use it would not run")

    @pytest.fixture(params=values, ids=ids)
    def value(*_: Any, request: Any) -> Any:  # `*_`: in a class there is a self
        return request.param

    return value


def parameters(*rows: Any, ids: Any = None) -> list[Any]:
    """Fixtures that change together, one for each column of the rows.

    `size, kind = tvm.testing.parameters((16, "a"), (32, "b"))` runs a test of both of them twice.
    """
    import pytest

    if not rows or len({len(row) for row in rows}) != 1:
        raise ArgumentError("tvm.testing.parameters takes rows of one length, one value a name in each")
    shared = f"tvm_testing_row_{next(_rows)}"  # a fixture beside those that the caller names
    labels = ids or ["-".join(str(v) for v in row) for row in rows]
    sys._getframe(1).f_locals[shared] = parameter(*rows, ids=labels)

    def column(number: int) -> Any:
        def value(*_: Any, **found: Any) -> Any:
            return found[shared][number]

        words = ("_", inspect.Parameter.VAR_POSITIONAL), (shared, inspect.Parameter.KEYWORD_ONLY)
        value.__signature__ = inspect.Signature([inspect.Parameter(*word) for word in words])  # type: ignore[attr-defined]
        return pytest.fixture(value)

    return [column(number) for number in range(len(rows[0]))]


def fixture(func: Callable[..., Any] | None = None, *, cache_return_value: bool = False) -> Any:
    """A fixture of pytest; a value that is to be kept is made once a session."""
    import pytest

    made = pytest.fixture(scope="session") if cache_return_value else pytest.fixture
    return made if func is None else made(func)


# --- what a test needs ------------------------------------------------------------------------------------------------


def requires_llvm(*test: Any, **_: Any) -> Any:
    """The test as it is: programs become machine code by LLVM here."""
    return test[0] if test else lambda one: one


def requires_gpu(*test: Any, **_: Any) -> Any:
    """Skips a test: programs run on the CPU."""
    import pytest

    mark = pytest.mark.skip(reason="programs run on the CPU here")
    return mark(test[0]) if test else mark


def requires_package(*packages: str) -> Any:
    """Skips a test when a Python package is missing."""
    import pytest

    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    return pytest.mark.skipif(bool(missing), reason=f"needs {', '.join(missing)}")


# --- a step on a program ----------------------------------------------------------------------------------------------


class CompareBeforeAfter:
    """A test class: `transform` makes `expected` of `before`.

    Both are programs (a function without decorator is read as one), fixtures, or methods that give one; `expected` may
    be the error to be raised. `transform` gives a function of modules.
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name in ("before", "expected"):
            if name in vars(cls):
                setattr(cls, name, _program_fixture(vars(cls)[name]))
        if "transform" in vars(cls):
            cls.transform = _fixture_of(vars(cls)["transform"])  # type: ignore[attr-defined]

    def test_compare(self, before: Any, expected: Any, transform: Any) -> None:
        """Run it and compare."""
        import pytest

        module = IRModule({"main": before}) if isinstance(before, PrimFunc) else before
        if isinstance(expected, type):
            with pytest.raises(expected):
                transform(module)
            return
        after = transform(module)
        assert_structural_equal(after["main"] if isinstance(expected, PrimFunc) else after, expected)


def _program_fixture(member: Any) -> Any:
    """A member of a test class as a fixture that gives a program, or an error."""
    if isinstance(member, ClassMember):
        member = build([member.program])[member.program.name]
    if inspect.isfunction(member) and next(iter(inspect.signature(member).parameters), "") != "self":
        member = parse(member)[member.__name__]
    return _fixture_of(member)


def _fixture_of(member: Any) -> Any:
    """A method as a fixture, a fixture as it is; anything else is the value of one."""
    import pytest

    if inspect.isfunction(member):
        return pytest.fixture(member)
    known = type(member).__module__.startswith("_pytest") or hasattr(member, "_pytestfixturefunction")
    return member if known else pytest.fixture(lambda *_: member)

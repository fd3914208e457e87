"""Analysis caches, how much work an answer may be, and the record of edits that makes what is cached stale.

`cache_while_frozen` caches results while modules are frozen: verification, and the checks of a primitive, repeat the
same queries, and lookups in a version of a program ask again what its verification asked. `cache_by_structure` caches
results across modules under a structural key: functions and blocks that look alike are checked once.

Code that edits the IR must tell which ops it edits (`touch`), and which shape variables it creates. The functions of
`edit`, `create` and `attrs` tell it, and primitives that change an op directly. Ops created at the top of a function
need no record: they were not there before. `dialect/incremental` listens, so that only what a step edits is verified
again.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, Generic, TypeVar

from mlir import ir

from tir_mlir.dialect.diagnostics import TirError, short_repr
from tir_mlir.dialect.diagnostics.remarks import redirect_remarks
from tir_mlir.dialect.ir.op_views import FuncOp, isa

F = TypeVar("F", bound=Callable[..., Any])
K = TypeVar("K")
V = TypeVar("V")
J = TypeVar("J", bound="Journal")
_MISSING = object()


_given: ContextVar[int | None] = ContextVar("budget", default=None)


def given_operations() -> int | None:
    """The operations of the innermost `budget` of this thread; None outside."""
    return _given.get()


@contextmanager
def budget(operations: int) -> Iterator[None]:
    """In the `with` statement, isl may use `operations` operations for each question of a step or a build.

        with tir_mlir.budget(10_000_000):
            sch.reorder(*loops)

    By default a question of a step may use 100,000, and one that decides whether a kernel is built 10,000,000. Each
    answer is right under any budget; a larger one leaves fewer questions undecided. It holds in the thread that entered
    it, and in the processes that build a model side by side for it. Errors: TirError if it is not a positive integer.
    """
    if isinstance(operations, bool) or not isinstance(operations, int) or operations < 1:
        raise TirError(
            f"budget takes a positive number of operations, not {short_repr(operations)}; fix: budget(1_000_000)"
        )
    token = _given.set(operations)
    try:
        yield
    finally:
        _given.reset(token)


class _FreezeState(threading.local):
    held: Callable[[], Any] = type(None)
    """A weak reference to the current frozen period."""

    def __init__(self) -> None:
        self.outer: list[Callable[[], Any]] = []
        """The periods that `fresh_query_cache` interrupts, the current one's last."""


frozen = _FreezeState()


ENTRIES = 1 << 12
"""How many results a cache across modules keeps: the distinct nests of a large program, in a few megabytes."""


class BoundedDict(dict[K, V], Generic[K, V]):
    """A dictionary that drops the older half of its entries when it reaches `limit`."""

    def __init__(self, limit: int = ENTRIES):
        super().__init__()
        self._limit = limit

    def __setitem__(self, key: K, value: V) -> None:
        if len(self) >= self._limit:
            for old in list(self)[: self._limit // 2]:
                self.pop(old, None)  # another thread may have dropped it
        super().__setitem__(key, value)


class QueryCache(type(threading.RLock())):  # type: ignore[misc]
    """The cache of one frozen period, valid while entered; kept alive by the `with` statement.

    A subclass of a lock because Python enters and exits locks atomically with respect to Ctrl-C.
    """

    def __init__(self) -> None:
        self.known: dict[Any, Any] = {}
        self.operations = given_operations()


def active_cache() -> dict[Any, Any] | None:
    """The cache of the current frozen period; None while modules may change."""
    period = frozen.held()  # as in `_active`: called for every memo
    if period is None or not period._is_owned():
        period = _active()
    return None if period is None else period.known


def _active() -> QueryCache | None:
    """The innermost period that is entered: those that ended are dropped here, so that an interrupt leaves none."""
    period = frozen.held()
    while (period is None or not period._is_owned()) and frozen.outer:
        frozen.held = frozen.outer.pop()
        period = frozen.held()
    return period if period is not None and period._is_owned() else None


def freeze_modules(cache: QueryCache | None = None) -> QueryCache:
    """A context manager in which no module is edited. May be nested.

    Ops, values and views created inside must not outlive it. `cache`: that of an earlier period, about modules that
    were not edited since. What was undecided under another budget is asked again.
    """
    period = _active()
    if period is None:
        period = cache or QueryCache()
        if period.operations != given_operations():
            period.known, period.operations = {}, given_operations()
        frozen.held = weakref.ref(period)
    return period


def fresh_query_cache() -> QueryCache:
    """A context manager that keeps what is asked in it out of the current frozen period: it is of another module."""
    period = QueryCache()
    frozen.outer.append(frozen.held)
    frozen.held = weakref.ref(period)
    return period


def only_reads(function: F) -> F:
    """Decorator: freeze all modules while the function, which edits none, runs."""

    @wraps(function)
    def ask(*args: Any, **kwargs: Any) -> Any:
        with freeze_modules():
            return function(*args, **kwargs)

    return ask  # type: ignore[return-value]


def cache_while_frozen(function: F) -> F:
    """Decorator: cache the results of a function of hashable arguments while modules are frozen."""

    @wraps(function)
    def ask(*args: Any) -> Any:
        period = frozen.held()  # as in `answers`, without the call
        if (period is None or not period._is_owned()) and (period := _active()) is None:
            return function(*args)
        cache, key = period.known, (function, args)
        answer = cache.get(key, _MISSING)
        if answer is _MISSING:
            answer = cache[key] = function(*args)
        return answer

    return ask  # type: ignore[return-value]


def cache_by_structure(key: Callable[..., Hashable | None], limit: int = ENTRIES) -> Callable[[F], F]:
    """Decorator: cache the results of a function across modules, under `key(*args)`.

    The key must determine the result, and the result must contain no ops or values. A call whose key is None, or that
    raises, is not cached.
    """

    def decorate(function: F) -> F:
        cache: BoundedDict[Hashable, Any] = BoundedDict(limit)

        @wraps(function)
        def ask(*args: Any) -> Any:
            structure = key(*args)
            if structure is None:
                return function(*args)
            structure = structure, given_operations()  # some answers are "unknown" under a small budget
            answer = cache.get(structure, _MISSING)
            if answer is _MISSING:
                answer = cache[structure] = function(*args)
            return answer

        return ask  # type: ignore[return-value]

    return decorate


_edits = threading.local()


class Journal:
    """What a step does while this is entered: what it proves and what it names. This one hears of edits, but keeps
    none.

    facts: what was proved. names: those given to new buffers. sizes: those of new shape variables.
    """

    def __init__(self) -> None:
        self.facts: list[str] = []
        self.names: set[str] = set()
        self.sizes: set[str] = set()
        self._outer: tuple[Journal | None, list[str] | None] = None, None

    def add(self, op: ir.Operation) -> None:
        """An op is edited, moved or erased."""

    def add_users(self, value: ir.Value) -> None:
        """All uses of a value change."""

    def add_declaration(self) -> None:
        """A function without a body is added to the module."""

    def size_names(self, _func: ir.Operation) -> set[str] | None:
        """The shape variables that a function defines; None if unknown."""
        return None

    def __enter__(self: J) -> J:
        self._outer = open_journal(), redirect_remarks(self.facts)
        _edits.journal = self
        return self

    def __exit__(self, *_: object) -> None:
        _edits.journal, facts = self._outer
        redirect_remarks(facts)


def open_journal() -> Journal | None:
    """The journal that was entered last."""
    return getattr(_edits, "journal", None)


def touch(*edited: ir.Operation) -> None:
    """Record that ops are edited, moved or erased, or what is in them: call it before."""
    current = open_journal()
    if current is not None:
        for op in edited:
            current.add(op)


def touch_users(*values: ir.Value) -> None:
    """Record that all uses of values change."""
    current = open_journal()
    if current is not None:
        for value in values:
            current.add_users(value)


def touch_declaration() -> None:
    """Record that a function without a body is added to the module."""
    current = open_journal()
    if current is not None:
        current.add_declaration()


def touch_here() -> None:
    """Record that an op is created at the insertion point. At the top of a function that needs no record."""
    current = open_journal()
    if current is not None:
        owner = ir.InsertionPoint.current.block.owner
        if not isa(owner.operation, FuncOp):
            current.add(owner.operation)


def touch_size(name: str) -> None:
    """Record that a shape variable is created at the top of a function."""
    current = open_journal()
    if current is not None:
        current.sizes.add(name)


def new_names() -> set[str]:
    """The names that the current step gave to new buffers."""
    current = open_journal()
    return set() if current is None else current.names


def size_names(func: ir.Operation) -> set[str] | None:
    """The shape variables that ops in the body of a function define, or defined before the step; None if unknown."""
    current = open_journal()
    return None if current is None else current.size_names(func)

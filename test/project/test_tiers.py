"""What a tier runs of a parametrized test."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness.tiers import chosen

TESTS = """
import pytest

@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_sizes(n): ...

@pytest.mark.parametrize(("a", "b"), [(1.5, "x"), (2.5, "y")])
@pytest.mark.parametrize("c", "pqr")
def test_product(a, b, c): ...

@pytest.mark.few(2)
@pytest.mark.parametrize("c", "pqrst")
def test_few(c): ...

@pytest.mark.parametrize("c", "abcdefghijklmno")
def test_table(c): ...

@pytest.mark.slow
def test_slow(): ...

@pytest.mark.nightly
def test_nightly(): ...
"""
CHOSEN = {
    "quick": "sizes[3] product[p-1.5-x] product[q-2.5-y] product[r-1.5-x] few[p] few[t] "
    + " ".join(f"table[{c}]" for c in "acegikmo"),
    "check": "sizes[3] product[p-1.5-x] product[q-2.5-y] product[r-1.5-x] few[p] few[t] "
    + " ".join(f"table[{c}]" for c in "abcdefghijklmno")
    + " slow",
    "all": "sizes[1] sizes[2] sizes[3] sizes[4] product[p-1.5-x] product[p-2.5-y] product[q-1.5-x] product[q-2.5-y] "
    "product[r-1.5-x] product[r-2.5-y] few[p] few[q] few[r] few[s] few[t] "
    + " ".join(f"table[{c}]" for c in "abcdefghijklmno")
    + " slow nightly",
}


@pytest.fixture(scope="module")
def items(tmp_path_factory) -> list[pytest.Item]:
    """The items of TESTS."""
    collected: list[pytest.Item] = []

    class Collector:
        def pytest_collection_finish(self, session: pytest.Session) -> None:
            collected.extend(session.items)

    path = Path(tmp_path_factory.mktemp("tiers")) / "test_them.py"
    path.write_text(TESTS)
    markers = [f"--override-ini=markers={name}: of a tier" for name in ("slow", "nightly", "few(n)")]
    pytest.main(
        ["--collect-only", "-qq", "-p", "no:cacheprovider", f"--rootdir={path.parent}", *markers, str(path)],
        [Collector()],
    )
    return collected


@pytest.mark.nightly
@pytest.mark.parametrize("which", CHOSEN)
def test_a_tier(items, which):
    names = [item.name.removeprefix("test_") for item in chosen(items, which)[0]]
    assert names == CHOSEN[which].split()

"""Of the cases of one operator, three run before a merge."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    for item in items:
        if Path(__file__).parent in item.path.parents and item.get_closest_marker("few") is None:
            item.add_marker(pytest.mark.few(3))

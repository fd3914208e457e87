"""One server of PostgreSQL for the tests of this folder: starting it takes seconds."""

import pytest
from harness.postgres import server


@pytest.fixture(scope="session")
def database():
    with server() as url:
        yield url

"""`tvm.testing`: what TVM's own way of writing tests needs of pytest."""

from __future__ import annotations

import sys
from typing import Any, NoReturn


def main() -> NoReturn:
    """Run the tests of the file that calls this."""
    import pytest

    sys.exit(pytest.main([sys._getframe(1).f_code.co_filename, *sys.argv[1:]]))


def parameter(*values: Any, ids: Any = None, **_: Any) -> Any:
    """A fixture with these values, one after the other."""
    import pytest

    return pytest.fixture(params=values, ids=ids)(lambda request: request.param)


def requires_llvm(test: Any) -> Any:
    """The test as it is: programs become machine code by LLVM here."""
    return test


def requires_gpu(*test: Any, **_: Any) -> Any:
    """Skips a test: programs run on the CPU."""
    import pytest

    mark = pytest.mark.skip(reason="programs run on the CPU here")
    return mark(test[0]) if test else mark

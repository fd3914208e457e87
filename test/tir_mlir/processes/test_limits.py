"""Processes that this package starts end with their parent, and take no more memory and time than they are given."""

import os
import signal
import sys
import time

import pytest

from tir_mlir import processes

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="of Linux")
_LIMITS = "from tir_mlir.processes.limits import die_with_parent, limit\n"


def ended(code: str) -> processes.Completed:
    return processes.run(processes.Python(_LIMITS + code), capture_output=True, text=True)


def test_memory_beyond_the_limit_is_refused():
    result = ended("limit(1 << 28, 60)\ntry: bytearray(1 << 29)\nexcept MemoryError: print('refused')")
    assert result.stdout == "refused\n"


@pytest.mark.nightly
def test_a_process_ends_when_its_seconds_are_spent():
    assert ended("limit(1 << 30, 1)\nwhile True: pass").returncode == -signal.SIGXCPU


def test_a_process_whose_parent_has_ended_ends():
    assert ended(f"die_with_parent({os.getpid() + 1})\nprint('alive')").stdout == ""


def test_a_process_ends_with_its_parent():
    child = "import os, time\ndie_with_parent()\nprint(os.getpid(), flush=True)\ntime.sleep(600)"
    parent = (
        "import time\nfrom tir_mlir import processes\n"
        f"processes.start(processes.Python({_LIMITS + child!r}))\ntime.sleep(600)"
    )
    with processes.start(processes.Python(parent), stdout=processes.PIPE) as process:
        assert process.stdout is not None
        number = int(process.stdout.readline())
        process.kill()
    end = time.monotonic() + 60
    while _runs(number) and time.monotonic() < end:
        time.sleep(0.05)
    assert not _runs(number)


def _runs(process: int) -> bool:
    """Whether a process runs; one that has ended and that nobody waited for does not."""
    try:
        with open(f"/proc/{process}/stat") as facts:
            return facts.read().rpartition(") ")[2][0] != "Z"
    except OSError:
        return False

"""tools/fuzz.py as a command."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from harness import ROOT


def _fuzz(*options):
    command = [sys.executable, str(ROOT / "tools" / "fuzz.py"), *options]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT)


@pytest.mark.nightly
def test_pairs_print_the_last_line_and_write_the_statistics(tmp_path):
    done = _fuzz("--pairs", "4", "--seed", "5", "--jobs", "1", "--json", str(tmp_path / "figures"))
    last = done.stdout.splitlines()[-1]
    assert done.returncode == 0, done.stdout + done.stderr
    assert last.startswith("pairs 4: wrong 0, refused ") and last.endswith("; inputs 0: aborted 0, hung 0")
    figures = json.loads((tmp_path / "figures").read_text())
    assert figures["line"] == last and sum(figures["applied"].values()) > 0 and figures["judged"]["verify"] > 0


@pytest.mark.nightly
def test_one_pair_prints_its_story():
    done = _fuzz("--seed", "5", "--only", "pair:1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "def main(" in done.stdout and done.stdout.splitlines()[-1] == "pair:1 (pair) fine: scheduled"


@pytest.mark.nightly
def test_pairs_of_one_family_and_one_step(tmp_path):
    done = _fuzz("--pairs", "6", "--seed", "1", "--jobs", "1", "--stages", "ordered", "--steps", "reorder,split",
                 "--json", str(tmp_path / "figures"))  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    figures = json.loads((tmp_path / "figures").read_text())
    assert set(figures["applied"]) == {"reorder", "split"}
    assert figures["families"]["ordered"]["applied"] > 0 and figures["applied_on"]["ordered: split"] > 0
    assert "steps on " in done.stdout


@pytest.mark.nightly
def test_unknown_steps_are_refused_by_name():
    done = _fuzz("--pairs", "1", "--steps", "reorder,shuffle")
    assert done.returncode == 2 and "no step shuffle: " in done.stderr


@pytest.mark.nightly
def test_kernels_are_counted_with_the_reasons_of_refusals():
    done = _fuzz("--kernels", "6", "--seed", "5", "--jobs", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "kernels 6: wrong 0, refused " in done.stdout.splitlines()[-1]
    assert "kernels refused because" in done.stdout


@pytest.mark.nightly
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_run_that_is_terminated_reports_and_leaves_no_process():
    command = [sys.executable, str(ROOT / "tools" / "fuzz.py"), "--inputs", "100000", "--jobs", "1"]
    run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT)
    children = Path(f"/proc/{run.pid}/task/{run.pid}/children")
    end = time.monotonic() + 60
    while not (started := children.read_text().split()):
        assert time.monotonic() < end
        time.sleep(0.1)
    time.sleep(1)
    run.send_signal(signal.SIGTERM)
    out, errors = run.communicate(timeout=60)
    assert "interrupted" in errors and out.splitlines()[-1].startswith("pairs 0: ")
    end = time.monotonic() + 60
    while any(Path(f"/proc/{pid}").exists() for pid in started):
        assert time.monotonic() < end
        time.sleep(0.1)

"""The check of commit messages, and the examples of CONTRIBUTING."""

from __future__ import annotations

import re

import pytest
from harness import ROOT

import check_commit


@pytest.mark.parametrize(
    "message",
    [
        "Erase each op that fission drops once\n",
        "verify: ask the op table which ops are an if\n\nThey were listed.\n",
        "Speed up split\n\nWhy.\n# a comment of git\n",
        'Revert "Added something that is longer than seventy-two characters in all, as git quotes it"\n',
        "x" * 72,
    ],
)
def test_accepted(message):
    assert check_commit.find_faults(message) == []


@pytest.mark.parametrize(
    ("message", "fault"),
    [
        ("", "is empty"),
        ("# only a comment\n", "is empty"),
        ("x" * 73, "has 73 characters"),
        ("Erase each op once.\n", "ends with a full stop"),
        ("Fixed a crash\n", "begins with 'Fixed'"),
        ("verify: fixes a crash\n", "begins with 'fixes'"),
        ("Moving things\n", "begins with 'Moving'"),
        ("Erase each op once\nIt was erased twice.\n", "second line is not empty"),
    ],
)
def test_refused(message, fault):
    (found,) = check_commit.find_faults(message)
    assert fault in found


def test_the_command(tmp_path, monkeypatch, capsys):
    path = tmp_path / "message"
    path.write_text("Fixed it.\n")
    monkeypatch.setattr("sys.argv", ["check_commit.py", str(path)])
    assert check_commit.main() == 1
    assert len(capsys.readouterr().err.splitlines()) == 2


def test_the_examples_of_contributing():
    section = (ROOT / "CONTRIBUTING.md").read_text().partition("## Commits")[2]
    examples = re.findall(r"```text\n(.+?)```", section, re.DOTALL)
    assert len(examples) == 2
    for example in examples:
        assert check_commit.find_faults(example) == []
        assert "\n\n" in example, "an example says why"

"""The files of the hosted checks and of pre-commit: they parse, and run what the Makefile and `make env` provide."""

from __future__ import annotations

import re

import pytest
import yaml
from harness import ROOT

WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
MAKEFILE = (ROOT / "Makefile").read_text()
TARGETS = set(re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE))
PROJECT = (ROOT / "pyproject.toml").read_text()
HOOKS = ("end-of-file-fixer", "check-added-large-files", "check-yaml")
PACKAGES = {"python": None, "ruff": "ruff", **dict.fromkeys(HOOKS, "pre-commit-hooks")}
"""The package of each command of a hook; None: it runs a file of this project."""


def read_jobs(path) -> list[dict]:
    return list(yaml.safe_load(path.read_text())["jobs"].values())


def read_steps(path) -> list[dict]:
    return [step for job in read_jobs(path) for step in job["steps"]]


def test_there_are_workflows():
    assert {path.stem for path in WORKFLOWS} == {"checks", "docs", "nightly", "wheels"}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_may_only_read_and_ends(path):
    workflow = yaml.safe_load(path.read_text())
    assert workflow["permissions"] == {"contents": "read"}
    assert workflow["concurrency"]["group"].startswith(path.stem)
    for job in read_jobs(path):
        assert "permissions" not in job
        assert job["timeout-minutes"] <= 360


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_runs_targets_of_the_makefile(path):
    for step in read_steps(path):
        if "uses" in step:
            assert re.fullmatch(r"actions/[a-z-]+@v\d+", step["uses"])
            continue
        make, target, *variables = step["run"].split()
        assert make == "make"
        assert target in TARGETS
        assert all(f"{name.partition('=')[0]} " in MAKEFILE for name in variables)


def test_checks_run_on_each_python_that_the_package_names():
    quick = yaml.safe_load((ROOT / ".github/workflows/checks.yml").read_text())["jobs"]["quick"]
    named = re.findall(r'"Programming Language :: Python :: (3\.\d+)"', PROJECT)
    assert quick["strategy"]["matrix"]["python"] == named


def test_hooks_run_what_make_env_installs():
    (repo,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    assert repo["repo"] == "local"
    for hook in repo["hooks"]:
        command, *arguments = hook["entry"].split()
        package = PACKAGES[command.removeprefix(".venv/bin/")]
        assert (ROOT / arguments[0]).is_file() if package is None else f'"{package}>=' in PROJECT


@pytest.mark.parametrize("path", sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml")), ids=lambda path: path.stem)
def test_a_template_of_issues_has_what_the_host_asks_for(path):
    template = yaml.safe_load(path.read_text())
    if path.stem != "config":
        assert {"name", "description", "body"} <= template.keys()
        assert all(field["attributes"]["label"] for field in template["body"])

"""What is installed: `dialect/` and `passes/`, folders of a checkout's root, as packages in `tir_mlir`; and README.md
as the page of the package, whose links lead to the sources."""

import re
from pathlib import Path

from setuptools import find_packages, setup

BESIDE = ("dialect", "passes")
inside = find_packages(include=["tir_mlir*"], exclude=[f"tir_mlir.{name}*" for name in BESIDE])  # without the links
beside = [f"tir_mlir.{package}" for package in find_packages(include=[f"{name}*" for name in BESIDE])]


def page() -> str:
    """README.md with links that lead from anywhere: relative ones are below the source of the project."""
    here = Path(__file__).parent
    (source,) = re.findall(r'^Source = "(.+)"$', (here / "pyproject.toml").read_text(), re.MULTILINE)

    def absolute(link: re.Match[str]) -> str:
        kind = "raw" if link[1] else "blob"
        return f"{link[1]}[{link[2]}]({source}/{kind}/main/{link[3]})"

    return re.sub(r"(!?)\[([^\]]*)\]\((?!https?:|#)([^)]+)\)", absolute, (here / "README.md").read_text())


setup(
    # an editable install is a path that type checkers and editors follow, as `tir_mlir/dialect` is a link of a checkout
    options={"editable_wheel": {"mode": "compat"}},
    packages=inside + beside,
    package_dir={f"tir_mlir.{name}": name for name in BESIDE},
    long_description=page(),
    long_description_content_type="text/markdown",
)

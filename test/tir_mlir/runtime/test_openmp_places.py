"""The OpenMP runtime is found wherever pip puts it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tir_mlir.dialect.diagnostics import BuildError
from tir_mlir.runtime.drivers import shared_libraries
from tir_mlir.runtime.drivers.jit import Compiled

LAYOUTS = {
    "--user": ("intel-openmp", "lib/python3.11/site-packages", "../../libiomp5.so", "lib/libiomp5.so"),
    "another environment": (
        "intel-openmp",
        "lib/python3.11/site-packages",
        "../../../lib/libiomp5.so",
        "lib/libiomp5.so",
    ),
    "--target of uv": ("intel-openmp", "", "lib/libiomp5.so", "lib/libiomp5.so"),
    "a list of files that is wrong": ("intel-openmp", "", "../../libiomp5.so", "lib/libiomp5.so"),
    "LLVM's": (
        "cmeel-libomp",
        "site-packages",
        "cmeel.prefix/lib/libomp.so",
        "site-packages/cmeel.prefix/lib/libomp.so",
    ),
}
"""The package, where it is, what its list of files says of the library, and where that is."""


@pytest.fixture
def elsewhere(monkeypatch, tmp_path):
    """No runtime in this environment, and nothing on the path but one folder, which is returned."""
    monkeypatch.delenv("TIR_OPENMP", raising=False)
    for name in ("prefix", "base_prefix"):
        monkeypatch.setattr(sys, name, str(tmp_path / "environment"))

    def only(folder: Path) -> None:
        monkeypatch.setattr(sys, "path", ["", str(folder)])

    return only


def package(site: Path, listed: str, name: str = "intel-openmp") -> None:
    info = site / f"{name.replace('-', '_')}-2026.2.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 2026.2.0\n")
    (info / "RECORD").write_text(f"{listed},,\n{info.name}/METADATA,,\n")


@pytest.mark.parametrize("layout", LAYOUTS)
def test_it_is_found_by_the_package(elsewhere, tmp_path, layout):
    name, site, listed, library = LAYOUTS[layout]
    package(tmp_path / site, listed, name)
    path = tmp_path / library
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    elsewhere(tmp_path / site)
    assert shared_libraries.openmp() == str(path)


def test_what_mkl_brings_goes_first(elsewhere, tmp_path):
    """A process that loads both ends."""
    for name, file in (("cmeel-libomp", "cmeel.prefix/lib/libomp.so"), ("intel-openmp", "lib/libiomp5.so")):
        package(tmp_path, file, name)
        (tmp_path / file).parent.mkdir(parents=True)
        (tmp_path / file).touch()
    elsewhere(tmp_path)
    assert shared_libraries.openmp() == str(tmp_path / "lib/libiomp5.so")


def test_a_package_without_its_library_is_told(elsewhere, tmp_path):
    """As `pip install --target` leaves it."""
    package(tmp_path, "../libiomp5.so")
    elsewhere(tmp_path)
    why = rf"the package intel-openmp in {tmp_path} is without it; `pip install --target` leaves .* TIR_OPENMP"
    with pytest.raises(BuildError, match=why):
        shared_libraries.openmp()


def test_no_package(elsewhere, tmp_path):
    elsewhere(tmp_path)
    with pytest.raises(BuildError, match=rf"{tmp_path}/environment/lib/libomp.so.*fix: `pip install cmeel-libomp`"):
        shared_libraries.openmp()


def test_entries_of_the_cache_do_not_tell_the_place():
    libs = ["libm.so.6", shared_libraries.openmp()]
    entry = Compiled(b"code", [4], libs, False, []).to_bytes()
    assert libs[1].encode() not in entry
    assert (found := Compiled.from_bytes(entry)) is not None and found.libs == libs

"""A library of kernels without a build, and drivers that need no GPU."""

import pytest
from harness import fake_cuda
from harness.fake_cuda import FakeCuda


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    """The path of the fake driver's library."""
    return fake_cuda.compiled(tmp_path_factory.mktemp("cuda"))


@pytest.fixture
def driver(library, tmp_path, monkeypatch):
    """CUDA's driver with two GPUs."""
    monkeypatch.setenv("TIR_CACHE_DIR", str(tmp_path))
    return FakeCuda(library, devices=2)

"""Large arrays in the cache: whole or not there, bounded, mapped."""

import numpy as np
import pytest

from tir_mlir.runtime.cache import mapped_arrays

ARRAY = np.arange(5000, dtype="uint8")


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("TIR_CACHE_DIR", str(tmp_path))
    return tmp_path / mapped_arrays.KIND


def write(name, **arrays):
    with mapped_arrays.writing(name) as writer:
        return {key: writer.add(key, array) for key, array in arrays.items()}


def test_what_was_written_is_mapped():
    at_once = write("one", a=ARRAY, b=ARRAY[:7])
    found = mapped_arrays.load("one")
    assert found is not None
    for arrays in (at_once, found):
        np.testing.assert_array_equal(arrays["a"], ARRAY)
        np.testing.assert_array_equal(arrays["b"], ARRAY[:7])
        assert isinstance(arrays["a"], np.memmap) and not arrays["a"].flags.writeable


def test_an_entry_that_is_not_finished_is_not_there(own_cache):
    with pytest.raises(KeyError), mapped_arrays.writing("one") as writer:
        writer.add("a", ARRAY)
        raise KeyError
    assert mapped_arrays.load("one") is None and not list(own_cache.iterdir())


def test_an_entry_cut_short_is_passed_over(own_cache):
    write("one", a=ARRAY)
    data = (own_cache / "one").read_bytes()
    (own_cache / "one").write_bytes(data[:-1])
    assert mapped_arrays.load("one") is None


def test_the_least_recently_used_go(own_cache, monkeypatch):
    monkeypatch.setenv("TIR_WEIGHTS_SIZE", "0.01")
    write("one", a=ARRAY)
    write("two", a=ARRAY)
    write("three", a=ARRAY)
    assert mapped_arrays.load("one") is None and mapped_arrays.load("three") is not None


def test_beyond_the_bound_arrays_stay_as_they_are(monkeypatch):
    monkeypatch.setenv("TIR_WEIGHTS_SIZE", "0.001")
    assert write("one", a=ARRAY)["a"] is ARRAY
    assert mapped_arrays.load("one") is None

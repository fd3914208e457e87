"""Records as JSON: what is written can be read, what cannot be read is told."""

import json
import math

import pytest

from tir_mlir.dialect.diagnostics import TuneError
from tir_mlir.tune.records.record import decode, encode


def test_a_record_is_read_as_it_was_written(record):
    one = record(reason='quote " and \ud800', verified="scaled")
    assert decode(encode(one)) == one


def test_the_time_is_the_median(record):
    assert record().time == 0.002 and record(seconds=()).time == math.inf


@pytest.mark.parametrize("changes", [{"status": "crashed"}, {"seconds": ()}, {"trace": []}])
def test_what_failed_is_not_usable(record, changes):
    assert record().usable and not record(**changes).usable


def changed(record, **changes):
    data = json.loads(encode(record()))
    return json.dumps({k: v for k, v in {**data, **changes}.items() if v is not ...})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": 3}, r"it is of a newer version: its format is 3, this version reads 2"),
        ({"format": "x"}, "it has no known format: 'x'"),
        ({"format": ...}, "it has no known format: None"),
        ({"names": ...}, r"missing: \['names'\], unknown: \[\]"),
        ({"code": "x"}, r"missing: \[\], unknown: \['code'\]"),
        ({"program": "../../etc"}, "its field 'program' is not a hash: '../../etc'"),
        ({"sizes": [1.5]}, r"its field 'sizes' is not a list of integers: \[1.5\]"),
        ({"seconds": [-1]}, r"its field 'seconds' is not a list of times: \[-1\]"),
        ({"seconds": [float("nan")]}, "its field 'seconds' is not a list of times"),
        ({"seconds": [True]}, "its field 'seconds' is not a list of times"),
        ({"decisions": {"a": "4"}}, "its field 'decisions' is not integers by name"),
        ({"trace": {}}, "its field 'trace' is not a list"),
        ({"versions": []}, "its field 'versions' is not texts by name"),
    ],
)
def test_a_malformed_record_is_told(record, changes, message):
    with pytest.raises(TuneError, match=message):
        decode(changed(record, **changes))


@pytest.mark.parametrize("text", ["", "{", "[1]", "3", "[" * 100_000])
def test_what_is_no_object_is_told(text):
    with pytest.raises(TuneError, match="it is not"):
        decode(text)


def test_a_truncated_record_is_told(record):
    with pytest.raises(TuneError, match="it is not JSON, perhaps cut off"):
        decode(encode(record())[:-40])


@pytest.mark.parametrize("changes", [{"decisions": {"a": object()}}, {"seconds": (math.inf,)}, {"names": None}])
def test_what_could_not_be_read_is_not_written(record, changes):
    with pytest.raises(TuneError, match=r"JSON|its field"):
        encode(record(**changes))

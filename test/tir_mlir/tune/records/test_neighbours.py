"""Records of the same operator at other sizes, nearest first."""

import math

import pytest
from programs.matmul import matmul, matmul_nt

from tir_mlir.target import ZEN4
from tir_mlir.tune.records.database import Database, distance
from tir_mlir.tune.records.record import subject


def test_distance_is_by_ratio():
    assert distance((512, 512), (1024, 256)) == 2 and distance((8,), (8,)) == 0
    assert distance((8,), (8, 8)) == math.inf and distance((0,), (8,)) == 3


@pytest.fixture
def db(tmp_path):
    """Two records for each of three sizes: depths 1 and 2 of 512, 2 and 3 of 96, 4 and 5 of 1000."""
    found = Database(tmp_path)
    for size, depths in ((512, (1, 2)), (96, (2, 3)), (1000, (4, 5))):
        for rank, depth in enumerate(depths):
            add(found, size, depth, 0.001 * (rank + 1))
    return found


def add(db, size, depth, seconds, program=matmul, target=None, **changes):
    about = subject(program(size, size, size), target)
    found = {"space": "library", "decisions": {"C.depth": depth}, "trace": [[], []], "seconds": (seconds,)}
    db.add(about.record(**(found | changes)))


def starts(db, size, count=6, **options):
    return [(r.sizes[0], r.decisions["C.depth"]) for r in db.nearest(matmul(size, size, size), count=count, **options)]


def test_the_best_of_each_size_comes_before_the_second_of_any(db):
    assert starts(db, 900, 4) == [(1000, 4), (512, 1), (96, 2), (1000, 5)]


def test_no_decisions_come_twice(db):
    assert starts(db, 100) == [(96, 2), (512, 1), (1000, 4), (96, 3), (1000, 5)]


def test_records_of_the_program_itself_are_no_neighbours(db):
    assert all(size != 512 for size, _ in starts(db, 512))


def test_other_operators_targets_spaces_and_failures_are_no_neighbours(db):
    add(db, 901, 7, 1e-6, matmul_nt)
    add(db, 902, 8, 1e-6, target=ZEN4)
    add(db, 903, 9, 1e-6, space="mine")
    add(db, 904, 10, 1e-6, status="wrong")
    assert all(depth < 6 for _, depth in starts(db, 900, space="library"))
    assert starts(db, 900, space="mine") == [(903, 9)]
    assert [r.decisions["C.depth"] for r in db.nearest(matmul(900, 900, 900), ZEN4)] == [8]


def test_records_of_other_versions_are_neighbours(tmp_path):
    db = Database(tmp_path)
    add(db, 512, 3, 0.1)
    path = next(db.path.rglob("*.json"))
    text = path.read_text().replace('"tir_mlir": "', '"tir_mlir": "7.')
    from tir_mlir.tune.records.record import decode

    path.unlink()
    db.add(decode(text))
    assert db.best(matmul(512, 512, 512)) is None and starts(db, 500) == [(512, 3)]

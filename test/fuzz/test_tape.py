"""The random numbers of an item can be noted and played again."""

from random import Random

from fuzzing.tape import Part, Tape, parts, read


def _drawn(random):
    found = [random.random(), random.choice("abc"), random.randint(3, 900), random.sample(range(9), 4)]
    for number in parts(random, "step", 3):
        found.append((number, random.randrange(7), random.getrandbits(70), random.uniform(1, 2)))
    order = list(range(6))
    random.shuffle(order)
    return [*found, order, random.choices("abc", [1, 2, 3], k=5)]


def test_a_tape_draws_the_numbers_of_its_seed_and_replays_them(tmp_path):
    journal = str(tmp_path / "journal")
    tape = Tape("7/pair/1", journal=journal)
    wanted = _drawn(Random("7/pair/1"))
    assert _drawn(tape) == wanted
    assert _drawn(Tape(play=tape.noted)) == wanted
    assert _drawn(Tape(play=[p.trimmed() for p in tape.noted])) == wanted
    assert read(journal) == tape.noted


def test_missing_numbers_are_the_lowest_and_excess_ones_are_dropped():
    tape = Tape(play=[Part("start", [99]), Part("step", [5])])
    assert tape.randrange(4) == 3 and tape.choice("xyz") == "x" and 0.9 < tape.random() < 1
    assert [tape.randrange(9) for _ in parts(tape, "step", 50)] == [5]
    assert [tape.randrange(9) for _ in parts(tape, "stage", 50)] == []

"""Which function of a model is searched next."""

from tir_mlir.tune.models.tune_model import Standing, expected_gain, next_function


def spent(standings, rounds, saved=lambda name, n: 0.0):
    """How many rounds each function has, if the n-th round of a function saves `saved(name, n)` of its time."""
    for _ in range(rounds):
        name = next_function(standings)
        one = standings[name]
        one.seconds.append(one.now * (1 - saved(name, one.rounds)))
    return {name: one.rounds for name, one in standings.items()}


def test_rounds_go_where_the_time_is():
    assert spent({"long": Standing([6.0]), "short": Standing([2.0])}, 12) == {"long": 9, "short": 3}


def test_a_function_at_its_roof_gets_few_rounds():
    rounds = spent({"fast": Standing([6.0], least=5.9), "slow": Standing([2.0])}, 8)
    assert rounds["slow"] > rounds["fast"]


def test_what_gains_goes_on():
    both = {"gains": Standing([4.0]), "stuck": Standing([4.0])}
    rounds = spent(both, 10, lambda name, n: 0.2 if name == "gains" else 0.0)
    even = spent({"gains": Standing([4.0]), "stuck": Standing([4.0])}, 10)
    assert rounds["gains"] < even["gains"] + 1  # what was saved is not there any more to be saved
    assert expected_gain(Standing([5.0, 4.0])) > expected_gain(Standing([4.0, 4.0]))


def test_nothing_is_next_when_all_are_over():
    assert next_function({"one": Standing([1.0], over=True)}) is None


def test_roofs_that_are_not_those_of_the_type_do_not_end_a_search():
    assert expected_gain(Standing([1.0], least=9.0)) > 0

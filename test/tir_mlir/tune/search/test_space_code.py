"""A space is told from its earlier version by its code, not by its name alone."""

from tir_mlir.tune.search.tuner import Options

SPACE = "def space(sch):\n    sch.split(sch.get_loops('B')[0], [None, {}])\n    return [f for f in {{1, 2}}]"


def code(text: str) -> str:
    names: dict = {}
    exec(text, names)
    return Options(space=names["space"]).space_code


def test_an_edited_space_is_another_one():
    assert code(SPACE.format(4)) != code(SPACE.format(8))


def test_comments_and_lines_do_not_count():
    assert code(SPACE.format(4)) == code("\n\n# tiles\n" + SPACE.format(4))

"""Functions are scheduled by their content: once, in whatever model and under whatever name they occur."""

import pytest
from harness.graphs import graph_of

from tir_mlir.dialect.graph import TensorType
from tir_mlir.graph.compile import compile_graph
from tir_mlir.graph.units import operator_unit, schedule_unit, unit_queries
from tir_mlir.graph.units.unit_queries import canonical_text, parse_canonical
from tir_mlir.runtime import workers
from tir_mlir.targets import BuildOptions


@pytest.fixture
def computed(tmp_path, monkeypatch):
    """The labels of what is scheduled, and not found in the cache, in an empty folder of its own."""
    labels: list[str] = []

    def run(tasks, cache):
        schedules = any(task.function.endswith(":schedule") for task in tasks)
        note = (lambda done: done.cached or labels.append(done.label)) if schedules else None
        return run_tasks(tasks, cache=cache, progress=note)

    run_tasks = workers.run
    monkeypatch.setenv("TIR_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(workers, "run", run)
    return labels


def chain(*widths):
    """A graph with a function for each width, called `exp`, `exp_1`, ..."""
    return graph_of(lambda b, *xs: tuple(b.op("exp", x) for x in xs), *((4, width) for width in widths))


def scheduled(graph, cache=True):
    return compile_graph(graph, until="schedule", options=BuildOptions(threads=1, cache=cache))


def test_a_function_of_another_model_is_not_scheduled_again(computed):
    scheduled(chain(8, 16))
    assert sorted(computed) == ["exp", "exp_1"]
    scheduled(chain(24, 16, 8))  # others of these names
    assert computed[2:] == ["exp"]


def test_what_is_found_is_what_was_made(computed):
    texts = [scheduled(chain(8)).script() for _ in range(2)]
    assert texts[0] == texts[1] and len(computed) == 1


def test_the_function_of_an_operator_is_found_by_its_types(tmp_path, monkeypatch):
    monkeypatch.setenv("TIR_CACHE_DIR", str(tmp_path))
    use = operator_unit.OperatorUse("exp", {}, [TensorType((4, 8), "float32")], [TensorType((4, 8), "float32")])
    monkeypatch.setattr(operator_unit, "_made", {})
    (made,) = operator_unit.operator_functions([use], cache=True)
    operator_unit._made.clear()
    monkeypatch.setattr(operator_unit, "operator_program", None)
    (found,) = operator_unit.operator_functions([use], cache=True)
    assert canonical_text(found) == canonical_text(made)


def test_without_the_cache_all_is_scheduled_again(computed):
    for _ in range(2):
        scheduled(chain(8), cache=False)
    assert computed == ["exp", "exp"]


def test_another_target_is_another_answer(computed):
    for target in ("sse2", "avx2"):
        options = BuildOptions(target=target, threads=1)
        unit_queries.run_unit(f"{schedule_unit.__name__}:schedule", [question()], options)
    assert len(computed) == 2


def question():
    return unit_queries.UnitQuery(compile_graph(chain(8), until="legalize").module["exp"])


def test_canonical_text_is_that_of_the_function_it_is_read_from():
    text = canonical_text(question().function)
    assert canonical_text(parse_canonical(text)) == text and "@exp" not in text

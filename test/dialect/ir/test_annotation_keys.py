"""The table of annotation keys: what is doubted, what is suggested."""

import pytest

from tir_mlir.dialect.ir.annotation_keys import BLOCK, FUNC, KEYS, LOOP, doubt, replacement_for


@pytest.mark.parametrize("key", KEYS)
def test_a_known_key_is_not_doubted_where_it_belongs(key):
    assert all(doubt(key, place) == "" for place in KEYS[key].owners)


@pytest.mark.parametrize(
    ("key", "place", "near"),
    [
        ("prefech", LOOP, "prefetch"),
        ("Prefetch", LOOP, "prefetch"),
        ("buffer_dim_aling", BLOCK, "buffer_dim_align"),
        ("software_pipeline_stages", LOOP, "software_pipeline_stage"),
        ("meta_schedule.paralel", BLOCK, "meta_schedule.parallel"),
        ("tir.noailas", FUNC, "tir.noalias"),
    ],
)
def test_the_nearest_key_is_named(key, place, near):
    assert doubt(key, place) == f'unknown annotation "{key}" has no effect; did you mean "{near}"?'


def test_a_key_like_no_other_gets_a_namespace():
    assert doubt("xyzzy", LOOP) == (
        'unknown annotation "xyzzy" has no effect; name a note of your own with a dot: my.xyzzy'
    )


@pytest.mark.parametrize("key", ["my.prefech", "tool.a.b", "tirx.noalias", "tirx.is_scheduled"])
def test_notes_of_the_user_and_newer_spellings(key):
    assert doubt(key, FUNC) == ""


def test_a_key_in_the_wrong_place():
    assert doubt("prefetch", BLOCK) == '"prefetch" is an annotation of a loop; on a block it has no effect'


def test_what_lowering_ignores_has_a_way_out():
    assert not replacement_for("software_pipeline_stage")
    assert "pipeline" in replacement_for("async_scope")
    assert replacement_for("prefetch") == replacement_for("auto_copy") == replacement_for("my.key") == ""

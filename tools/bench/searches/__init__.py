"""Searches of ten programs beside TVM's MetaSchedule: docs/searches.md."""

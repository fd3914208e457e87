"""Programs that tests schedule, lower and run: one definition each, parametrized by size where needed."""

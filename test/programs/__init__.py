"""The programs that tests schedule, lower and run: one definition each, by size where tests ask for several sizes."""

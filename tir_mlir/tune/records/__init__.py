"""What a search found: records as data, by program, sizes, target and version, in a directory that `build` reads."""

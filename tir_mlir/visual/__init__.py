"""Pictures of programs and schedules: loop nests, tiles in their buffers, rooflines, and a page to learn from."""

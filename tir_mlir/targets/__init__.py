"""Back ends, one a kind of target: the stages of its compilations, their cache, how code is loaded and exported."""

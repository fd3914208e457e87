"""Random programs with random thread bindings, built for a GPU and run on the PTX machine."""

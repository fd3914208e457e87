"""Where the time of a model goes: the calls of its functions timed one by one, beside the roofs of the machine."""

"""Constants: arrays as dense attributes and back, and arithmetic on floats as compiled code computes it."""

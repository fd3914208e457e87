"""Random programs under random schedules, and the checks on them."""

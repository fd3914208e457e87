"""Random programs under random schedules, and those who judge them."""

"""Models that are ready soon, and are replaced behind the scenes by ones that run fast."""

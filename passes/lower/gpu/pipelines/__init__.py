"""Copies from global to shared memory that run while threads compute."""

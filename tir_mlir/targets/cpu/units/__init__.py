"""Code by function: the functions that a host function calls are compiled and cached in modules of their own, by their
content, and found again in every program that calls them."""

"""The documentation site: code blocks of pages, tutorial notebooks, the picture of the README."""

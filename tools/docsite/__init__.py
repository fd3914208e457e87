"""The documentation site: code blocks of a page, notebooks made from tutorials, the picture of the README."""

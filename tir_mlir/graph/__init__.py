"""Whole models: graphs of operators."""

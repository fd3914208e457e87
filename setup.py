"""What is installed: `dialect/` and `passes/`, folders of a checkout's root, as packages in `tir_mlir`."""

from setuptools import find_packages, setup

BESIDE = ("dialect", "passes")
inside = find_packages(include=["tir_mlir*"], exclude=[f"tir_mlir.{name}*" for name in BESIDE])  # without the links
beside = [f"tir_mlir.{package}" for package in find_packages(include=[f"{name}*" for name in BESIDE])]

setup(packages=inside + beside, package_dir={f"tir_mlir.{name}": name for name in BESIDE})

"""`make bench ARGS=--models`: whole models, from PyTorch, against PyTorch eager and compiled and ONNX Runtime.

python tools/bench --models [NAME ...] [--threads 1 2] [--seconds 4] [--shared] [--out build/models.json]
"""

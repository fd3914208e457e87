"""`python -I -S client.py SOCKET KIND ARGS...` is `tir-opt ARGS` or `python SCRIPT ARGS`, run by server.py.

It imports as little as it can: it is started once for every run.
"""

import array
import marshal
import os
import sys

import _socket

_, path, kind, *argv = sys.argv
request = marshal.dumps((kind, argv if kind == "python" else ["tir-opt", *argv], os.getcwd(), dict(os.environ)))
connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
connection.connect(path)
connection.sendmsg([request], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, array.array("i", [0, 1, 2]))])
answer = connection.recv(1)
if not answer:
    os.write(2, b"the process of this run died\n")
os._exit(answer[0] if answer else 134)

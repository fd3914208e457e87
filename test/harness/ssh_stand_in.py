"""Stands for ssh: `python ssh_stand_in.py FOLDER EMULATOR... -- HOST COMMAND` runs the command here, at home in FOLDER.

With an emulator, programs run in it: the shell that starts them does so through it.
"""

import os
import subprocess
import sys


def main() -> int:
    """Run the command like sshd: by the shell of the user."""
    at = sys.argv.index("--")
    home, emulator, (host, command) = sys.argv[1], sys.argv[2:at], sys.argv[at + 1 :]
    if host == "gone":
        print("ssh: connect to host gone port 22: No route to host", file=sys.stderr)
        return 255
    if emulator:
        command = command.replace('"$p" "$d"', " ".join(emulator) + ' "$p" "$d"')
    done = subprocess.run(
        ["/bin/sh", "-c", command], env={**os.environ, "HOME": home, "XDG_CACHE_HOME": ""}, check=False
    )
    return done.returncode if done.returncode >= 0 else 128 - done.returncode


if __name__ == "__main__":
    sys.exit(main())

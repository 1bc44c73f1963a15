"""`python -m mindferry` is the `mindferry` command. Nothing but the standard library is imported before its path is safe."""

import atexit
import gc
import os
import sys


def run() -> None:
    """The command, with an interrupt during start-up answered as any other: exit code 130 and no traceback."""
    try:
        from .cli import main
    except KeyboardInterrupt:
        sys.exit(130)
    if sys.argv[1:2] == ["convert"]:
        leave_memory()
    main()


def leave_memory() -> None:
    """Without the garbage collector, at the end too: what a conversion holds goes with the process, and has no cycles to look for."""
    gc.disable()
    atexit.register(gc.freeze)


def forget_folder() -> None:
    """`-m` puts the current folder first on the path: a click.py in a project that is only to be read would be imported."""
    if not sys.flags.safe_path and sys.path and sys.path[0] in ("", os.getcwd()):
        del sys.path[0]


if __name__ == "__main__":  # worker processes import this file
    forget_folder()
    run()

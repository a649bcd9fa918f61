# SPDX-License-Identifier: MIT
"""Runs scripts in separate processes, for tests that may end or hang the process."""

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
import textwrap

# In seconds: a script that takes longer hangs. On a busy machine, an import of torch takes many.
BOUND = 240

HEAD = f"""
import faulthandler, gc, os, signal, sys, threading, time
import numpy as np
import loaderx as lx
faulthandler.dump_traceback_later({BOUND - 20}, exit=True)
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job ignores it

def arrays(n=4096, width=64):
    return np.arange(n * width, dtype=np.int64).reshape(n, width), np.arange(n)
"""


def run_script(text, status=0, silent=False):
    """Run a script, which must end by itself with this status; return its output.

    If `silent`, it must not write to stderr.
    """
    done = subprocess.run(
        [sys.executable, '-c', HEAD + textwrap.dedent(text)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        timeout=BOUND,
        universal_newlines=True,
    )
    assert done.returncode == status, f'status {done.returncode}\n{done.stdout}\n{done.stderr}'
    assert not (silent and done.stderr), done.stderr
    return done.stdout


def run_on_terminal(script, *arguments):
    """Run a script; return what it wrote to stdout and stderr, which are a terminal."""
    ours, theirs = pty.openpty()
    # On a terminal of size 0, tqdm shows nothing, and on a narrow one, it cuts paths off.
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack('4H', 24, 200, 0, 0))
    process = subprocess.Popen([sys.executable, '-c', script, *map(str, arguments)], stdout=theirs,
                               stderr=theirs)
    os.close(theirs)
    shown = b''
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:    # Linux reports EIO when no other descriptor is open
            part = b''
        if not part:
            break
        shown += part
    os.close(ours)
    assert process.wait(BOUND) == 0, shown
    return shown.decode()

# SPDX-License-Identifier: MIT
"""Runs a program in several processes of JAX on this machine, for tests."""

import contextlib
import os
import random
import socket
import subprocess
import sys
import tempfile

BEGIN = """
import json
import sys

import jax
import numpy as np
import loaderx as lx
import loaderx.jax as lj
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

address, count, number = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
jax.distributed.initialize(address, count, number)
"""


def free_port():
    """A port that no server has, below those that the kernel gives to others in the meantime."""
    while True:
        with contextlib.suppress(OSError), socket.socket() as free:
            free.bind(('localhost', random.SystemRandom().randrange(10_000, 32_000)))
            return free.getsockname()[1]


def run_processes(program, count, devices):
    """Run a program, which follows BEGIN, in `count` processes that have `devices` devices each;
    return what each of them printed."""
    address = f'localhost:{free_port()}'
    environment = dict(os.environ, JAX_PLATFORMS='cpu',
                       XLA_FLAGS=f'--xla_force_host_platform_device_count={devices}')
    command = [sys.executable, '-c', BEGIN + program, address, str(count)]
    with contextlib.ExitStack() as stack:
        # Files, since a process whose pipe is full would not reach the others at the end.
        files = [stack.enter_context(tempfile.TemporaryFile('w+')) for _ in range(2 * count)]
        runs = [subprocess.Popen([*command, str(number)], env=environment, stdout=files[number],
                                 stderr=files[count + number]) for number in range(count)]
        try:
            for run in runs:
                run.wait(timeout=120)
        finally:
            for run in runs:
                run.kill()
                run.wait()
            for file in files:
                file.seek(0)
            texts = [file.read() for file in files]
    assert [run.returncode for run in runs] == [0] * count, '\n'.join(texts[count:])
    return texts[:count]

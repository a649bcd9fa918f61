# SPDX-License-Identifier: MIT
"""Runs tests/remote/read-ranges, which reads ranges and writes files through a transport."""

import json
import os
import pathlib
import subprocess

BUILD = pathlib.Path(os.environ.get('top_builddir', '.')).resolve()
# Sanitizers and a busy machine make it slower.
TIMEOUT = 120
NEVER, LATER, SLOWER = range(3)


def run(url, *commands, options=(), **environment):
    """Opens a URL and obeys commands; returns the process. The environment has only a few variables
    of ours, and no home."""
    kept = {name: value for name, value in os.environ.items()
            if name.startswith(('ASAN_', 'TSAN_', 'UBSAN_', 'LD_')) or name == 'PATH'}
    kept['AWS_EC2_METADATA_DISABLED'] = 'true'
    return subprocess.run([BUILD / 'tests' / 'remote' / 'read-ranges', url, *options],
                          input=''.join(command + '\n' for command in commands).encode(),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=TIMEOUT,
                          env={**kept, **environment})


def read(url, *commands, **options):
    """Returns the answers to commands. No byte after a buffer has changed."""
    done = run(url, *commands, **options)
    assert (done.returncode, done.stderr) == (0, b''), done
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert all(answer.get('guarded', True) for answer in answers)
    return answers


def crc32c(data):
    """A few lines that are slow, and right."""
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff

# SPDX-License-Identifier: MIT
"""The file systems of tests."""

import subprocess


def lies_in_memory(path):
    """Whether the path is in memory: no sync waits, and no page can be dropped."""
    output = subprocess.run(['stat', '-f', '-c', '%T', path], stdout=subprocess.PIPE, check=True)
    return output.stdout.strip() in (b'tmpfs', b'ramfs')

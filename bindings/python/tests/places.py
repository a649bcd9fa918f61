# SPDX-License-Identifier: MIT
"""The file systems on which tests run."""

import subprocess


def is_in_memory(path):
    """Whether the path is in memory, where no sync waits and no page can be dropped."""
    output = subprocess.run(['stat', '-f', '-c', '%T', path], stdout=subprocess.PIPE, check=True)
    return output.stdout.strip() in (b'tmpfs', b'ramfs')

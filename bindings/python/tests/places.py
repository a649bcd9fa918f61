# SPDX-License-Identifier: MIT
"""Where the files of a test lie."""

import subprocess


def lies_in_memory(path):
    """Whether there is no disk below it: nothing waits for a sync, and no page can be dropped."""
    told = subprocess.run(['stat', '-f', '-c', '%T', path], stdout=subprocess.PIPE, check=True)
    return told.stdout.strip() in (b'tmpfs', b'ramfs')

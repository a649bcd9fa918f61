# SPDX-License-Identifier: MIT
"""Damages stored payloads, for tests."""

import glob


def corrupt(path, content, by=1):
    """Change a byte of a stored payload; return the file and the offset."""
    for name in glob.glob(str(path / 'chunk' / '*')):
        with open(name, 'r+b') as file:
            place = file.read().find(content)
            if place >= 0:
                file.seek(place)
                file.write(bytes([content[0] ^ by]))
                return name, place
    raise AssertionError('value not found in the chunk')

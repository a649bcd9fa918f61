# SPDX-License-Identifier: MIT
"""Damage to stored payloads, for tests of what is done about it."""

import glob


def corrupt(path, content, by=1):
    """Changes a byte of a stored payload; the file and where in it."""
    for name in glob.glob(str(path / 'chunk' / '*')):
        with open(name, 'r+b') as file:
            place = file.read().find(content)
            if place >= 0:
                file.seek(place)
                file.write(bytes([content[0] ^ by]))
                return name, place
    raise AssertionError('not there')

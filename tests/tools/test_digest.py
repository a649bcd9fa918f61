# SPDX-License-Identifier: MIT
"""loaderx digest."""

import re

from arrays import values, write_idx


def test_digest(loaderx, folder):
    array = write_idx(folder / 'x', values('uint8', (500, 40)))
    loaderx.text('import', 'a', '--idx', f'x={array}')
    loaderx.text('import', 'b', '--idx', f'x={array}', '--compress', 'x=flate',
                 '--chunk-records', '30', '--seal')
    loaderx.text('copy', 'a', 'c', '-q', '--range', ':499')
    shown = loaderx.text('digest', 'a')
    assert re.fullmatch('[0-9a-f]{16}  a\n', shown)
    digest = shown.split()[0]
    for threads in '0', '1', '5':
        assert loaderx.json('digest', 'b', '--threads', threads) == {
            'path': 'b', 'length': 500, 'digest': digest}
    assert loaderx.json('digest', 'c')['digest'] != digest


def test_errors(loaderx, folder):
    loaderx.text('import', 'd', '--idx', 'x=' + write_idx(folder / 'x', values('uint8', (9, 40))))
    with open(folder / 'd' / 'chunk' / '0.zr', 'r+b') as file:
        file.write(b'damage')
    done = loaderx('digest', 'd')
    assert done.returncode == 1 and b'record 0' in done.stderr and b'loaderx repair' in done.stderr
    assert done.stdout == b''
    assert loaderx('digest').returncode == loaderx('digest', 'none').returncode == 2
    assert loaderx('digest', 'd', '--threads', '65').returncode == 2

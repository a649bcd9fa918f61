# SPDX-License-Identifier: MIT
"""loaderx seal: once, again, and with obstacles."""

from arrays import values, write_idx


def test_seal(loaderx, images):
    assert loaderx.text('seal', 'images') == 'images: sealed, 20 records\n'
    assert loaderx.json('stat', 'images')['sealed'] is True
    assert loaderx.text('verify', 'images', '-q') == ''
    assert loaderx.text('get', 'images', 19, '--field', 'label') == '19\n'


def test_seal_again(loaderx, images):
    assert loaderx.json('seal', 'images') == {'path': 'images', 'length': 20, 'sealed': True,
                                              'changed': True}
    assert loaderx.json('seal', 'images')['changed'] is False
    assert loaderx.text('seal', 'images') == 'images: already sealed, 20 records\n'
    assert loaderx.text('seal', 'images', '--quiet') == ''


def test_nothing_can_be_appended(loaderx, folder, images):
    loaderx.text('seal', 'images')
    line = loaderx.fails(2, 'import', 'images', '--append',
                         '--idx', 'data=' + write_idx(folder / 'd', values('uint8', (1, 4, 3))),
                         '--idx', 'label=' + write_idx(folder / 'l', values('uint8', (1,))))
    assert 'images: the dataset is sealed' in line
    assert loaderx.json('stat', 'images')['length'] == 20

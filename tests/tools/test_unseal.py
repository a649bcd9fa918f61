# SPDX-License-Identifier: MIT
"""loaderx unseal: once, and again."""

from arrays import values, write_idx


def test_unseal(loaderx, folder, images):
    loaderx.text('seal', 'images')
    assert loaderx.text('unseal', 'images') == 'images: unsealed\n'
    assert loaderx.json('stat', 'images')['sealed'] is False
    loaderx.text('import', 'images', '--append',
                 '--idx', 'data=' + write_idx(folder / 'd', values('uint8', (1, 4, 3))),
                 '--idx', 'label=' + write_idx(folder / 'l', values('uint8', (1,))))
    assert loaderx.json('stat', 'images')['length'] == 21
    assert loaderx.text('seal', 'images') == 'images: sealed, 21 records\n'


def test_accepts_a_dataset_that_is_not_sealed(loaderx, images):
    assert loaderx.text('unseal', 'images') == 'images: was not sealed\n'
    assert loaderx.json('unseal', 'images') == {'path': 'images', 'sealed': False,
                                                'changed': False}
    assert loaderx.text('unseal', 'images', '-q') == ''


def test_rejects_other_than_datasets(loaderx, folder):
    (folder / 'nothing').mkdir()
    assert 'nothing' in loaderx.fails(2, 'unseal', 'nothing')
    assert 'DIR is missing' in loaderx.fails(2, 'unseal')

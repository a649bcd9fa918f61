# SPDX-License-Identifier: MIT
"""loaderx rebalance: released space, and failures."""


def test_removes_replaced_values(loaderx, folder, images):
    # A merge of a dataset with itself, truncated to half, has chunks whose second half is dead.
    loaderx.text('copy', 'images', 'images', 'images', 'more')
    before = loaderx.json('stat', 'more')
    done = loaderx.json('rebalance', 'more')
    assert done['records'] == before['length'] == 60
    assert done['bytes_after'] <= done['bytes_before']
    assert done['utilisation_after'] >= done['utilisation_before']
    assert loaderx.text('verify', 'more', '-q') == ''
    for index in 0, 19, 20, 59:
        assert loaderx.text('get', 'more', index, '--field', 'label') == f'{index % 20}\n'


def test_summary(loaderx, images):
    text = loaderx.text('rebalance', 'images')
    assert text.startswith('images: 20 records, ') and 'utilisation' in text
    assert loaderx.text('rebalance', 'images', '-q') == ''


def test_damage_changes_nothing(loaderx, folder, images):
    chunk = folder / 'images' / 'chunk' / '0.zr'
    data = bytearray(chunk.read_bytes())
    data[5] ^= 1
    chunk.write_bytes(data)
    files = sorted(path.name for path in folder.rglob('*'))
    line = loaderx.fails(1, 'rebalance', 'images')
    assert "field 'data', record 0" in line
    assert sorted(path.name for path in folder.rglob('*')) == files


def test_rejects_a_sealed_dataset(loaderx, images):
    loaderx.text('seal', 'images')
    assert 'unseal' in loaderx.fails(2, 'rebalance', 'images')

# SPDX-License-Identifier: MIT
"""Fields with zstd, a codec of the format that this library does not implement."""

import pytest

import loaderx as lx

FIELDS = {'text': lx.Field(bytes, compress='flate'), 'label': lx.Field('int64')}
COMPRESSED, SHORT = b'long enough to become shorter ' * 20, b'short'


@pytest.fixture
def path(tmp_path):
    """The value of record 0 is compressed with zstd, the value of record 1 is not."""
    path = tmp_path / 'd'
    with lx.create(path, FIELDS) as writer:
        writer.extend(text=[COMPRESSED, SHORT], label=[5, 6])
    meta = (path / 'meta.json').read_text()
    assert '"flate"' in meta
    (path / 'meta.json').write_text(meta.replace('"flate"', '"zstd"'))
    lx.repair(path, apply=True)  # updates the checksum
    return path


def unsupported():
    return pytest.raises(lx.LoaderxError, match='zstd')


def test_a_dataset_opens_and_shows_the_field(path):
    with lx.open(path) as dataset:
        assert dataset.fields['text'] == lx.Field(bytes, compress='zstd')
        assert repr(dataset.fields['text']) == "Field(bytes, compress='zstd')"
        assert dataset.stat()['fields'][0]['compress'] == 'zstd'
        assert dataset['label'][:].tolist() == [5, 6]
        assert dataset[1] == {'text': SHORT, 'label': 6}


def test_a_compressed_value_is_unsupported(path):
    with lx.open(path) as dataset:
        with unsupported() as caught:
            dataset['text'][0]
        assert caught.value.status == 'LX_ERR_UNSUPPORTED'
        assert (caught.value.field, caught.value.record) == ('text', 0)
        with unsupported():
            dataset.gather([1, 0])


def test_a_writer_opens_but_rejects_new_zstd_fields(path):
    with lx.open(path, mode='a') as writer:
        assert writer.fields['text'].compress == 'zstd'
        with unsupported() as caught:
            writer.add_field('more', lx.Field(bytes, compress='zstd'))
        assert caught.value.status == 'LX_ERR_UNSUPPORTED'


def test_a_new_dataset_rejects_zstd_fields(path, tmp_path):
    with unsupported():
        lx.create(tmp_path / 'new', {'text': lx.Field(bytes, compress='zstd')})
    with unsupported():
        lx.copy(path, tmp_path / 'new')
    assert not (tmp_path / 'new').exists()

# SPDX-License-Identifier: MIT
"""The digest of the contents of a dataset."""

import numpy as np
import pytest

import loaderx as lx


@pytest.fixture
def path(tmp_path):
    fields = {'x': lx.Field('float32', 3), 'text': lx.Field(bytes, compress='flate')}
    with lx.create(tmp_path / 'd', fields, card={'license': 'MIT'}) as w:
        w.extend(x=np.random.rand(1000, 3).astype('float32'),
                 text=[b'x' * i for i in range(1000)])
    return tmp_path / 'd'


def test_digest(path, tmp_path):
    digest = lx.open(path).digest()
    assert len(digest) == 16 and int(digest, 16) != 0
    lx.copy(path, tmp_path / 'copy', chunk_records=7)
    with lx.open(tmp_path / 'copy', 'r+') as w:
        w.set_card({'license': None})
        w[5] = {'text': b'other'}
        w[5] = {'text': b'xxxxx'}
    assert lx.open(tmp_path / 'copy', executor=lx.Executor(readers=2)).digest() == digest
    assert lx.open(path, access='pread').digest() == digest
    with lx.open(tmp_path / 'copy', 'r+') as w:
        w[5] = {'text': b'xxxxy'}
    assert lx.open(tmp_path / 'copy').digest() != digest


def test_progress_and_damage(path):
    seen = []
    lx.open(path).digest(progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (1000, 1000)

    def stop(done, total):
        raise ZeroDivisionError
    with pytest.raises(ZeroDivisionError):
        lx.open(path).digest(progress=stop)
    with open(path / 'chunk' / '0.zr', 'r+b') as file:
        file.write(b'damage')
    with pytest.raises(lx.CorruptError):
        lx.open(path, on_damage='zeros').digest()

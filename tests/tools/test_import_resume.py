# SPDX-License-Identifier: MIT
"""loaderx import: what a dataset says about an import that was interrupted.

The unit test of the importer (test-import-resume) has what happens before it continues.
"""

import numpy as np
import pytest

N = 3000
IMPORT = 'import', 'd', '--format', 'jsonl', 'a'


def stop_at_bad(loaderx, folder):
    """An import that stops at a bad record; the input is mended."""
    lines = [f'{{"id": {i}}}\n' for i in range(N)]
    (folder / 'a').write_text(''.join([*lines[:2000], 'bad\n', *lines[2000:]]))
    loaderx.fails(1, *IMPORT)
    (folder / 'a').write_text(''.join(lines))


def check_complete(loaderx):
    assert loaderx.json('card', 'd')['card'] == {}
    raw = loaderx('get', 'd', ':', '--field', 'id', '--raw').stdout
    assert np.frombuffer(raw, 'int64').tolist() == list(range(N))


def test_an_incomplete_dataset_says_so(loaderx, folder):
    stop_at_bad(loaderx, folder)
    for command in 'stat', 'verify':
        assert 'import into the dataset is not complete' in loaderx.text(command, 'd')
        assert loaderx.json(command, 'd')['import'] == 'incomplete'
    for command in ['seal', 'd'], ['backup', 'd', 'e'], ['push', 'd', f'file://{folder}/f']:
        line = loaderx.fails(2, *command)
        assert ': d: ' in line and 'not complete: resume it or' in line
    assert not (folder / 'e').exists() and not (folder / 'f').exists()
    assert '--resume' in loaderx.fails(2, *IMPORT)
    loaderx.text('copy', 'd', 'g')
    assert loaderx.json('stat', 'g')['import'] == 'incomplete'
    loaderx.text(*IMPORT, '--resume')
    check_complete(loaderx)
    assert loaderx.json('stat', 'd')['import'] is None
    loaderx.text('backup', 'd', 'e')
    loaderx.text('seal', 'd')


def test_a_dataset_may_be_kept_or_replaced(loaderx, folder):
    stop_at_bad(loaderx, folder)
    (folder / 'd').rename(folder / 'kept')
    loaderx.text('card', 'kept', '--remove', 'loaderx.import')
    loaderx.text('seal', 'kept')
    assert loaderx.json('stat', 'kept')['length'] == 2000
    stop_at_bad(loaderx, folder)
    loaderx.text(*IMPORT, '--replace')
    loaderx.text(*IMPORT, '--resume')
    check_complete(loaderx)


def test_an_import_continues_under_another_name(loaderx, folder):
    stop_at_bad(loaderx, folder)
    (folder / 'd').rename(folder / 'moved')
    loaderx.text('import', 'moved', *IMPORT[2:], '--resume')
    loaderx.text(*IMPORT, '--resume')
    check_complete(loaderx)
    loaderx.text('diff', 'd', 'moved')


@pytest.mark.parametrize('more', [['--append'], ['--append', '--resume'], ['--resume']])
def test_a_file_of_the_first_release_candidate_is_refused(loaderx, folder, more):
    stop_at_bad(loaderx, folder)
    loaderx.text(*IMPORT, '--resume')
    (folder / 'd.import').write_text('{"digest":1,"version":1,"first":0}\n')
    line = loaderx.fails(1, *IMPORT, *more)
    assert 'd.import: ' in line and 'remove the file and the dataset' in line
    assert (folder / 'd.import').read_text() == '{"digest":1,"version":1,"first":0}\n'
    check_complete(loaderx)


def test_a_full_card_is_refused_before_anything_changes(loaderx, folder):
    stop_at_bad(loaderx, folder)
    loaderx.text(*IMPORT, '--resume')
    loaderx.text('card', 'd', *(word for i in range(64) for word in ('--set', f'k{i}=x')))
    assert 'at most 64 fit' in loaderx.fails(2, *IMPORT, '--append')
    loaderx.text('card', 'd', *(word for i in range(64) for word in ('--remove', f'k{i}')))
    check_complete(loaderx)

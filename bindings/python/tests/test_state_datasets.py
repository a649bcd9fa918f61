# SPDX-License-Identifier: MIT
"""Resuming a run whose dataset was changed after its state was saved."""
import logging

import numpy as np
import pytest

import loaderx as lx

N = 100


def make(path, count=N, first=0):
    with lx.create(path, {'x': lx.Field('int64', (2,)), 'y': lx.Field('int32')}) as writer:
        writer.extend(columns(count, first))
    return str(path)


def columns(count, first=0):
    labels = np.arange(first, first + count)
    return {'x': np.stack([labels * 2, labels * 3], 1), 'y': labels.astype(np.int32)}


def append(path, count=20, first=1000):
    with lx.open(path, 'a') as writer:
        writer.extend(columns(count, first))


def change(path, index, fields=('x', 'y')):
    values = {name: column[0] for name, column in columns(1, 5000).items()}
    with lx.open(path, 'r+') as writer:
        writer[index] = {name: values[name] for name in fields}


def rest(loader):
    """Return the labels of the rest of the newest pass."""
    return np.concatenate([batch['y'] for batch in iter(lambda: next(loader, None), None)]).tolist()


def a_state(source, order=None, **options):
    """Return a state in mid-epoch, and the labels that follow it."""
    loader = lx.Loader(source, batch_size=16, order=order, **options)
    for _ in range(2):
        next(loader)
    state = loader.state_dict()
    return state, rest(loader)


def resumed(source, state, order=None, changed='raise', **options):
    loader = lx.Loader(source, batch_size=16, order=order, **options)
    loader.load_state_dict(state, changed=changed)
    return rest(loader)


def test_a_grown_dataset_resumes_on_its_old_length(tmp_path):
    path = make(tmp_path / 'd')
    order = lx.Shuffle(seed=1)
    state, expected = a_state(lx.Dataset(path), order)
    append(path)
    with pytest.raises(ValueError, match=r'd: the dataset has 120 records, but had 100 when the '
                                         r'state was saved: .* length=100; otherwise'):
        resumed(lx.Dataset(path), state, order)
    assert resumed(lx.Dataset(path, length=100), state, order) == expected
    assert resumed(lx.open(path, length=100), state, order) == expected


@pytest.mark.parametrize('order', [
    None, lx.Shuffle(seed=2), lx.Random(seed=3), lx.Blocks(block=8, seed=4),
    lx.Lanes(lanes=6, block=4, seed=5),
    lx.Sequential(window=4, stride=2)])
def test_every_order_continues_on_the_old_length(tmp_path, order):
    path = make(tmp_path / 'd')
    state, expected = a_state(lx.Dataset(path), order)
    append(path)
    assert resumed(lx.Dataset(path, length=N), state, order) == expected


def test_mixtures_and_combined_sources_continue_on_the_old_length(tmp_path):
    one, two = make(tmp_path / 'one'), make(tmp_path / 'two', 50, 500)

    def combined(**lengths):
        parts = [lx.Dataset(path, length=lengths.get(name))
                 for name, path in [('one', one), ('two', two)]]
        both = lx.ConcatDataset(parts)
        return both, lx.SubsetDataset(both, np.arange(0, 150, 3))

    blend = lx.Blend([lx.Shuffle(n=100, seed=1), lx.Shuffle(n=50, seed=2)], [0.7, 0.3])
    both, subset = combined()
    state, expected = a_state(both, blend)
    of_subset, expected_of_subset = a_state(subset)
    append(two)
    both, subset = combined()
    for source, saved, order in [(both, state, blend), (subset, of_subset, None)]:
        with pytest.raises(ValueError, match='two: the dataset has 70 records.* length=50'):
            resumed(source, saved, order)
    both, subset = combined(two=50)
    assert resumed(both, state, blend) == expected
    assert resumed(subset, of_subset) == expected_of_subset


def test_joined_columns_continue_on_the_old_length(tmp_path):
    path, other = make(tmp_path / 'd'), np.arange(N)
    state, expected = a_state((lx.Dataset(path), other))
    append(path)
    with pytest.raises(ValueError, match='length=100'):
        resumed((lx.Dataset(path), np.arange(N + 20)), state)
    assert resumed((lx.Dataset(path, length=N), other), state) == expected


def test_a_grown_array_resumes_on_its_first_records(tmp_path):
    np.save(tmp_path / 'a.npy', np.arange(20))
    np.save(tmp_path / 'b.npy', np.arange(30))
    for before, after, kept in [
        (np.arange(20), np.arange(30), lambda now: now[:20]),
        ({'x': np.arange(20)}, {'x': np.arange(30)}, lambda now: {'x': now['x'][:20]}),
        (tmp_path / 'a.npy', tmp_path / 'b.npy', lambda now: tmp_path / 'a.npy'),
        (lx.ConcatDataset([np.arange(20), np.arange(7)]),
         lx.ConcatDataset([np.arange(30), np.arange(7)]),
         lambda now: lx.ConcatDataset([now.datasets[0][:20], now.datasets[1]])),
        ([{'x': i} for i in range(20)], [{'x': i} for i in range(30)], lambda now: now[:20]),
    ]:
        def loader(source):
            return lx.Loader(source, batch_size=6, order=lx.Shuffle(seed=1))

        first = loader(before)
        batches = iter(first)
        next(batches)
        state = first.state_dict()
        again = loader(after)
        with pytest.raises(ValueError, match=r'length" is 20 in the state, but 30 here: to continue'
                                             r' with the first 20 records, .*array\[:20\]'):
            again.load_state_dict(state)
        again = loader(kept(after))
        again.load_state_dict(state)
        assert [list(map(bytes, batch.values())) for batch in again] == [
            list(map(bytes, batch.values())) for batch in batches]


def test_tokens_in_a_field_continue_on_the_old_length(tmp_path):
    path = str(tmp_path / 'd')
    with lx.create(path, {'ids': lx.Field(bytes)}) as writer:
        for i in range(40):
            writer.append(ids=np.arange(i, i + 9, dtype=np.uint16).tobytes())

    def tokens(length=None):
        return lx.TokenDataset(lx.Tokens(lx.Dataset(path, length=length)['ids'], 'uint16'), 8)

    loader = lx.Loader(tokens(), batch_size=4)
    next(loader)
    state = loader.state_dict()
    expected = [next(iter(batch.values())).tolist()
                for batch in iter(lambda: next(loader, None), None)]
    with lx.open(path, 'a') as writer:
        writer.append(ids=np.arange(9, dtype=np.uint16).tobytes())
    with pytest.raises(ValueError, match='length=40'):
        lx.Loader(tokens(), batch_size=4).load_state_dict(state)
    again = lx.Loader(tokens(40), batch_size=4)
    again.load_state_dict(state)
    assert [next(iter(batch.values())).tolist() for batch in again] == expected
    with lx.open(path, 'r+') as writer:
        writer[3] = {'ids': np.arange(20, 29, dtype=np.uint16).tobytes()}
    with pytest.raises(ValueError, match="field 'ids'.*changed='allow'"):
        lx.Loader(tokens(40), batch_size=4).load_state_dict(state)


def test_a_shrunken_dataset_is_reported(tmp_path):
    path = make(tmp_path / 'd')
    state, before = a_state(lx.Dataset(path))
    with pytest.raises(ValueError, match='opened with length=99, but .*: open it with length=100'):
        resumed(lx.Dataset(path, length=99), state)
    with lx.open(path, 'r+') as writer:
        del writer[99]
    for changed in ('raise', 'allow'):
        with pytest.raises(ValueError, match='only 99 records, but had 100 .* even if changed '
                                             'records are allowed: append records until there are '
                                             "100 again, and allow changed records with "):
            resumed(lx.Dataset(path), state, changed=changed)
    with pytest.raises(ValueError, match='length is 100, but the dataset has only 99 records'):
        lx.Dataset(path, length=100)
    append(path, 1)
    assert len(resumed(lx.Dataset(path), state, changed='allow')) == len(before)


def test_another_dataset_is_reported_as_such(tmp_path):
    state, _ = a_state(lx.Dataset(make(tmp_path / 'd')))
    with pytest.raises(ValueError, match='uuid'):
        resumed(lx.Dataset(make(tmp_path / 'e')), state)


def delete_and_append(path):
    with lx.open(path, 'r+') as writer:
        del writer[3]
    append(path, 1)


def replace_the_last(path):
    with lx.open(path, 'r+') as writer:
        del writer[99]
        writer.extend(columns(1, 2000))


def delete_and_grow(path):
    with lx.open(path, 'r+') as writer:
        del writer[3]
    append(path, 30)


def change_and_append(path):
    change(path, 7)
    append(path, 3)


CHANGES = [delete_and_append, replace_the_last, delete_and_grow, change_and_append,
           lambda path: change(path, 0), lambda path: change(path, 99, ('y',))]


@pytest.mark.parametrize('access', ['mmap', 'pread'])
@pytest.mark.parametrize('number', range(len(CHANGES)))
def test_changed_records_are_reported(tmp_path, number, access):
    path = make(tmp_path / 'd')
    state, before = a_state(lx.Dataset(path, access=access))
    CHANGES[number](path)
    dataset = lx.Dataset(path, length=N, access=access)
    with pytest.raises(ValueError, match="d, field '[xy]': records changed after the state was "
                                         "saved.* changed='allow'"):
        resumed(dataset, state)
    now = resumed(dataset, state, changed='allow')
    assert len(now) == len(before)
    again, _ = a_state(dataset)
    assert resumed(dataset, again) == now


@pytest.mark.parametrize('access', ['mmap', 'pread'])
def test_appends_of_any_size_change_nothing(tmp_path, access):
    path = make(tmp_path / 'd')
    change(path, 5)
    state, expected = a_state(lx.Dataset(path, access=access))
    for count in (1, 3, 20_000, 1):
        append(path, count)
        assert resumed(lx.Dataset(path, length=N, access=access), state) == expected
    with lx.open(path, 'r+') as writer:
        del writer[N + 1]    # the last record takes its place
        writer[N] = {'y': 3}
    assert resumed(lx.Dataset(path, length=N, access=access), state) == expected


def test_records_change_only_in_the_fields_that_are_read(tmp_path):
    path = make(tmp_path / 'd')
    state, expected = a_state(lx.Dataset(path), fields=['y'])
    change(path, 50, ('x',))
    assert resumed(lx.Dataset(path), state, fields=['y']) == expected
    with pytest.raises(ValueError, match="field 'x'"):
        resumed(lx.Dataset(path), state)
    with lx.open(path, 'r+') as writer:
        writer.add_field('z', lx.Field('uint8'))
        writer[4] = {'z': 1}
    assert resumed(lx.Dataset(path), state, fields=['y', 'z'], missing='zeros') == expected


def test_a_replaced_field_is_reported(tmp_path):
    path = make(tmp_path / 'd')
    state, expected = a_state(lx.Dataset(path), fields=['y'])
    with lx.open(path, 'r+') as writer:
        writer.drop_field('x')
    assert resumed(lx.Dataset(path), state, fields=['y']) == expected
    with lx.open(path, 'r+') as writer:
        writer.add_field('new', lx.Field('int32'))
        writer.drop_field('y')
        writer.rename_field('new', 'y')
    with pytest.raises(ValueError, match="field 'y': records changed"):
        resumed(lx.Dataset(path), state, fields=['y'], missing='zeros')


def test_a_name_that_belongs_to_another_field_is_reported(tmp_path):
    """Also if all rows are in tables, so that dropping and renaming fields commits nothing."""
    path = make(tmp_path / 'd')
    with lx.open(path, 'r+') as writer:
        writer.add_field('other', lx.Field('int32'))
        for index in range(N):
            writer[index] = {'other': index}
        writer.checkpoint()
    state, expected = a_state(lx.Dataset(path), fields=['y'])
    with lx.open(path, 'r+') as writer:
        writer.rename_field('x', 'z')
    assert resumed(lx.Dataset(path), state, fields=['y']) == expected
    with lx.open(path, 'r+') as writer:
        writer.drop_field('y')
        writer.rename_field('other', 'y')
    with pytest.raises(ValueError, match="field 'y': records changed"):
        resumed(lx.Dataset(path), state, fields=['y'])
    assert len(resumed(lx.Dataset(path), state, fields=['y'], changed='allow')) == len(expected)


def test_a_state_of_changed_records_resumes(tmp_path):
    path = make(tmp_path / 'd')
    for index in (3, 99, 50):
        change(path, index)
        state, expected = a_state(lx.Dataset(path))
        append(path, 1)
        with lx.open(path, 'r+') as writer:
            del writer[100]
        assert resumed(lx.Dataset(path), state) == expected


REWRITES = [lambda writer: writer.rebalance(progress=False), lambda writer: writer.checkpoint(),
            lambda writer: writer.seal()]
UNKNOWN = r"changed after the state was saved.* not known which records .*changed='allow'"


def rewrite(path, number):
    before = lx.Loader(lx.Dataset(path)).state_dict()['datasets'][0]['tables']
    with lx.open(path, 'r+') as writer:
        REWRITES[number](writer)
    assert lx.Loader(lx.Dataset(path)).state_dict()['datasets'][0]['tables'] == before + 1


def make_in_tables(path):
    """Make a dataset whose records are in the tables, except that one was changed."""
    path = make(path)
    with lx.open(path, 'r+') as writer:
        writer.rebalance(progress=False)
    change(path, 5)
    return path


@pytest.mark.parametrize('number', range(len(REWRITES)))
def test_rewritten_tables_change_nothing(tmp_path, caplog, number):
    path = make_in_tables(tmp_path / 'd')
    state, expected = a_state(lx.Dataset(path))
    append(path, 7)
    rewrite(path, number)
    with caplog.at_level(logging.WARNING):
        assert resumed(lx.Dataset(path, length=N), state) == expected
    assert not caplog.text


@pytest.mark.parametrize('number', range(len(REWRITES)))
def test_changes_are_reported_although_tables_were_rewritten(tmp_path, number):
    path = make_in_tables(tmp_path / 'd')
    state, expected = a_state(lx.Dataset(path))
    of_labels, _ = a_state(lx.Dataset(path), fields=['y'])
    change(path, 6, ('x',))
    rewrite(path, number)
    with pytest.raises(ValueError, match="field 'x': records " + UNKNOWN):
        resumed(lx.Dataset(path), state)
    assert resumed(lx.Dataset(path), state, changed='allow') == expected
    assert resumed(lx.Dataset(path), of_labels, fields=['y']) == expected


def test_changes_that_cause_a_checkpoint_are_reported(tmp_path):
    """The writer checkpoints by itself if there are many changes."""
    count, many = 200_000, 100_000
    with lx.create(tmp_path / 'd', {'y': lx.Field('int32')}) as writer:
        writer.extend({'y': np.arange(count, dtype=np.int32)})
    state, _ = a_state(lx.Dataset(tmp_path / 'd'))
    with lx.open(tmp_path / 'd', 'r+') as writer:
        for index in range(many):
            writer[index] = {'y': -1}
    assert lx.Dataset(tmp_path / 'd').identity['generation'] > 0
    with pytest.raises(ValueError, match=UNKNOWN):
        resumed(lx.Dataset(tmp_path / 'd'), state)


def recover(path, tmp_path):
    lx.repair(path, into=tmp_path / 'new')
    lx.remove(path)
    (tmp_path / 'new').rename(path)


def test_a_recovery_without_losses_changes_nothing(tmp_path, caplog):
    path = make(tmp_path / 'd')
    change(path, 5)
    state, expected = a_state(lx.Dataset(path))
    recover(path, tmp_path)
    with caplog.at_level(logging.WARNING):
        assert resumed(lx.Dataset(path), state) == expected
    assert not caplog.text


def repair(path, tmp_path):
    lx.repair(path, apply=True)


@pytest.mark.parametrize('mend', [recover, repair])
def test_lost_commits_are_reported(tmp_path, mend):
    """Other records may take the place of those that were lost."""
    path = make(tmp_path / 'd')
    append(path, 1)
    state, _ = a_state(lx.Dataset(path))
    log = tmp_path / 'd' / 'LOG'
    text = bytearray(log.read_bytes())
    text[-150] ^= 1    # in the last commit, which another synced frame follows
    log.write_bytes(text)
    mend(path, tmp_path)
    assert len(lx.Dataset(path)) == N
    append(path, 1, 2000)
    with lx.open(path, 'r+') as writer:
        writer.rebalance(progress=False)
    with pytest.raises(ValueError, match=UNKNOWN):
        resumed(lx.Dataset(path), state)


def test_a_seal_without_changes_causes_no_warning(tmp_path, caplog):
    path = make(tmp_path / 'd')
    state, expected = a_state(lx.Dataset(path))
    with lx.open(path, 'r+') as writer:
        writer.seal()
    assert resumed(lx.Dataset(path), state) == expected
    lx.unseal(path)
    append(path)
    assert resumed(lx.Dataset(path, length=N), state) == expected
    assert not caplog.text


def test_a_live_dataset_may_change(tmp_path):
    path = make(tmp_path / 'd')
    state, before = a_state(lx.Dataset(path, live=True))
    change(path, 60)
    after = resumed(lx.Dataset(path, live=True), state)
    assert after != before and len(after) == len(before)


def test_a_null_dataset_reads_no_records(tmp_path):
    path = make(tmp_path / 'd')
    state, expected = a_state(lx.Dataset(path))
    null = lx.Loader(lx.NullDataset(lx.Dataset(path)), batch_size=16)
    next(null)
    change(path, 60)
    null.load_state_dict(state)
    of_null = null.state_dict()
    with pytest.raises(ValueError, match="changed='allow'"):
        resumed(lx.Dataset(path), of_null)
    append(path)
    with pytest.raises(ValueError, match='has 120 records, but had 100'):
        lx.Loader(lx.NullDataset(path), batch_size=16).load_state_dict(state)


def test_the_state_names_the_dataset(tmp_path):
    dataset = lx.Dataset(make(tmp_path / 'd'))
    state, _ = a_state(dataset)
    [saved] = state['datasets']
    assert saved['length'] == N
    assert all(saved[key] == dataset.identity[key]
               for key in ('uuid', 'generation', 'sequence', 'checksum'))


def test_changed_is_checked(tmp_path):
    loader = lx.Loader(lx.Dataset(make(tmp_path / 'd')))
    with pytest.raises(ValueError, match='changed'):
        loader.load_state_dict(loader.state_dict(), changed='ignore')

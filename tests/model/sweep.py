# SPDX-License-Identifier: MIT
"""Short scripts killed at every single step, each with several random losses.

Random runs rarely kill at one particular step; a sweep kills at each. This matters most for
creation, sealing and replacement, which happen once for each dataset.
"""

from .disk import Crash, SyncFailed
from .machine import ENDLESS
from .generations import checkpoint, rebalance, rotate
from .job import Content, append, delete, modify
from .layout import dataset_directory
from .play import Run, failure_of
from .maintenance import add, drop, rename, renew
from .writer import NoSpace

BIG = 60      # bytes of a stored value


def value(number, size=BIG):
    return bytes([number + 1]) * size


def fill(run, writer, count, bulk, synced):
    """Append `count` records, one commit each."""
    current = Content(writer.content())
    for number in range(len(current.records), len(current.records) + count):
        record = [value(number), *(value(number, 4) for _ in current.names[1:])]
        append(writer, current, tuple(record))
        run.commit(writer, current.freeze(), bulk, synced)
    return current


def prepare_records(run):
    """Six records, half of them in the tables, all durable."""
    run.create()
    writer = run.open_writer()
    fill(run, writer, 3, True, True)
    fill(run, writer, 3, False, True)


def prepare_torn_tail(run):
    """Unsynced commits after synced ones, and then the power fails."""
    prepare_records(run)
    fill(run, run.open_writer(), 4, False, False)
    run.event(1)


def prepare_half_replaced(run):
    """An interrupted removal: meta.json is removed, but not durably."""
    prepare_records(run)
    run.begin_replacement()
    dataset_directory(run.disk).unlink('meta.json')


def do_create(run):
    run.create()


def do_append(run):
    """Unsynced and synced, small and large commits, over more than one chunk."""
    writer = run.open_writer()
    fill(run, writer, 1, False, False)
    fill(run, writer, 1, False, True)
    fill(run, writer, 5, True, False)
    run.close(writer, fill(run, writer, 1, True, True))


def do_seal(run):
    """Only pending rows move to the tables: the generation stays."""
    writer = run.open_writer()
    run.seal(writer, fill(run, writer, 1, False, False))


def change_some(writer):
    """Make an update of a row, and a length below the rows."""
    current = Content(writer.content())
    modify(writer, current, 0, 0, value(100))
    while len(current.records) > 2:
        delete(writer, current, 1)
    return current


def do_seal_by_checkpoint(run):
    """Seal with a new generation."""
    writer = run.open_writer()
    current = change_some(writer)
    run.commit(writer, current.freeze(), False, True)
    run.seal(writer, current)


def do_unseal(run):
    """Unseal and continue writing."""
    run.unseal()
    do_append(run)


def do_renew(change):
    """A new generation, commits in it, and another one."""
    def act(run):
        writer = run.open_writer()
        current = Content(renew(run, writer, change_some(writer), change))
        fill(run, writer, 2, True, True)
        fill(run, writer, 1, False, False)
        renew(run, writer, Content(writer.content()), rotate)
        run.close(writer, Content(writer.content()))

    return act


def do_fields(run):
    """Add, write, rename and drop a field, and add one of the same name."""
    writer = run.open_writer()
    current = Content(add(run, writer, Content(writer.content()), 'a'))
    modify(writer, current, 1, 2, value(50))
    run.commit(writer, current.freeze(), False, False)
    fill(run, writer, 1, True, True)
    current = Content(rename(run, writer, Content(writer.content()), 1, 'b'))
    current = Content(drop(run, writer, current, 2))
    fill(run, writer, 1, False, True)
    current = Content(add(run, writer, Content(writer.content()), 'a'))
    run.close(writer, current)


def do_replace(run):
    run.replace()


def prepare_sealed(run):
    prepare_records(run)
    do_seal_by_checkpoint(run)


SCRIPTS = {
    'create': (lambda run: None, do_create),
    'append': (prepare_records, do_append),
    'append after a torn tail': (prepare_torn_tail, do_append),
    'seal': (prepare_records, do_seal),
    'seal by a checkpoint': (prepare_records, do_seal_by_checkpoint),
    'unseal': (prepare_sealed, do_unseal),
    'rotate': (prepare_records, do_renew(rotate)),
    'checkpoint': (prepare_records, do_renew(checkpoint)),
    'rebalance': (prepare_records, do_renew(rebalance)),
    'fields': (prepare_records, do_fields),
    'replace': (prepare_records, do_replace),
    'replace again': (prepare_half_replaced, do_create),
}


def settle(run):
    """Check with a reader, with a writer, and after one more power loss."""
    run.budget = ENDLESS
    run.event(.8)
    run.read_now()
    try:
        run.open_writer()
    except SyncFailed:
        run.disk.failing = 0
    run.event(.8)
    run.read_now()


def killed_run(script, step, seed, world, faults=frozenset(), trace=None):
    """Run a script and kill it before this step.

    Returns
    -------
    wrong : str or None
    complete : bool
        The script was not killed.
    """
    run = Run(10007 * seed + step, world, faults, trace)
    prepare, act = SCRIPTS[script]
    ended = []

    def once():
        failing, run.disk.failing = run.disk.failing, 0
        prepare(run)
        run.disk.report('SCRIPT', script, 'killed before step', step)
        run.disk.failing = failing
        run.budget, run.critical = step, False
        try:
            act(run)
            ended.append(True)
        except (Crash, SyncFailed, NoSpace):
            pass
        settle(run)

    return failure_of(once), bool(ended)


def sweep(script, seed, world, faults=frozenset()):
    """Run a script repeatedly, killed one step later each time, until it completes.

    Returns
    -------
    wrong : str or None
        The failure of the first run that fails.
    step : int
        The step of the last run.
    """
    for step in range(ENDLESS):
        wrong, complete = killed_run(script, step, seed, world, faults)
        if wrong or complete:
            return wrong, step

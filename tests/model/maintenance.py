# SPDX-License-Identifier: MIT
"""New generations and schema changes in a run, with their effect on the history."""

from .generations import checkpoint, rebalance, rotate
from .job import FIELDS_AT_MOST, NAMES
from .records import LOST, Damage
from .schema import add_field, drop_field, rename_field
from .writer import NoSpace


def maintain(run, writer, current, ops):
    """Perform one change of a random kind; return the content after it."""
    kind = ops.choice(('rotate', 'checkpoint', 'rebalance', 'rotate', 'checkpoint', 'rebalance',
                       'add', 'drop', 'rename'))
    count = len(current.names)
    position = ops.randrange(count)
    name = ops.choice([name for name in NAMES if name not in current.names] or [None])
    if kind == 'add' and count < FIELDS_AT_MOST and name:
        return add(run, writer, current, name)
    if kind == 'drop' and count > 1:
        return drop(run, writer, current, position)
    if kind == 'rename' and name:
        return rename(run, writer, current, position, name)
    changes = {'checkpoint': checkpoint, 'rebalance': rebalance}
    return renew(run, writer, current, changes.get(kind, rotate))


def renew(run, writer, current, change):
    """Rotate, checkpoint or rebalance, which do not change the content."""
    return perform(run, current, current.freeze(), change.__name__,
                  lambda begun: change(writer, begun))


def add(run, writer, current, name):
    return perform(run, current, current.added(name), f'add {name}',
                  lambda begun: add_field(writer, name, begun))


def drop(run, writer, current, position):
    return perform(run, current, current.dropped(position), f'drop {current.names[position]}',
                  lambda begun: drop_field(writer, position, begun))


def rename(run, writer, current, position, name):
    return perform(run, current, current.renamed(position, name),
                  f'rename {current.names[position]} {name}',
                  lambda begun: rename_field(writer, position, name, begun))


def perform(run, current, after, what, action):
    """Perform a change: first `current` is committed, then it becomes `after`."""
    history = run.history
    run.disk.report(what.upper(), 'state', len(history.states) - 1)
    before = current.freeze()
    history.attempt(before)
    result = [before]

    def begun():
        history.acknowledge(True)
        history.attempt(after)
        result.append(after)

    try:
        action(begun)
        history.acknowledge(True)
    except NoSpace:
        run.disk.report('  no space')
        history.withdraw()
        return before
    except Damage:
        if not any(value is LOST for record in current.records for value in record):
            raise
        run.disk.report('  a value is lost')
        history.withdraw()
        return before
    return result[-1]

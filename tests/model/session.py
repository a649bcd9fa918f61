# SPDX-License-Identifier: MIT
"""A reader's process beside the writer, advanced a step at a time."""

from .history import Wrong
from .layout import NoDataset
from .reader import Reader
from .records import Damage


def finish(generator):
    """Run a reader's generator to its end, with nothing between its steps."""
    while True:
        try:
            next(generator)
        except StopIteration as end:
            return end.value


class Session:
    """Opens, looks again, refreshes, closes; some sessions are quick, some sleep between two steps.

    A session is void once a cache was lost within its boot: commits that it had seen may be cut
    then, so it may meet damage, but what it shows must still be some state that was once
    committed.
    """

    def __init__(self, run):
        self.run = run
        self.void = run.lossy
        self.pace = run.rng.choice((.01, .1, .5))
        self.steps = self.live()

    def live(self):
        run, history = self.run, self.run.history
        floor = history.acked
        reader = Reader(run.disk)
        yield from reader.open()
        shown = self.look(reader, floor)
        while run.rng.random() < .9:
            yield
            if run.rng.random() < .5:
                if reader.records() != shown and not self.void:
                    raise Wrong('a pinned reader sees its state change')
                continue
            floor = history.acked
            if (yield from reader.refresh()) or not self.void:
                shown = self.look(reader, floor)
        reader.close()

    def look(self, reader, floor):
        records = reader.records()
        run = self.run
        run.disk.note('      a reader is at epoch', reader.state.epoch, 'length', len(records))
        if not self.void:
            run.history.find(records, floor, 'a reader')
        elif records not in run.history.every:
            raise Wrong('a reader shows a state that never was')
        return records

    def advance(self):
        """Take one step, if it is not asleep; False at the end."""
        if self.run.rng.random() > self.pace:
            return True
        try:
            next(self.steps)
            return True
        except (StopIteration, NoDataset):
            return False
        except Damage as damage:
            if not self.void:
                raise Wrong(f'a reader met damage: {damage}') from damage
            return False

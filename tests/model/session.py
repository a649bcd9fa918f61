# SPDX-License-Identifier: MIT
"""A reader's process while the writer writes, advanced a step at a time."""

from .history import Wrong, agrees
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

    At a refresh it may keep the state that it had, as a view: that shows the same until it is let
    go. A session is void once a cache was lost within its boot: commits that it had seen may be gone
    then, so it may meet damage, but what it shows must still be some state that was once committed,
    but for values that are lost. What a durable one shows is held to be durable, but where syncs
    fail: those of a reader know nothing of it.
    """

    def __init__(self, run):
        self.run = run
        self.void = run.lossy
        self.pace = run.rng.choice((.01, .1, .5))
        self.durable = run.rng.random() < .3
        self.reader = Reader(run.disk, self.durable)
        self.views = []         # (reader, what it shows)
        self.steps = self.live()

    def live(self):
        run = self.run
        floor = self.floor()
        yield from self.reader.open()
        shown = self.look(floor)
        while run.rng.random() < .9:
            yield
            kind = run.rng.random()
            if kind < .4:
                self.look_again(self.reader, shown)
            elif kind < .6 and self.views:
                view, seen = self.views.pop()
                self.look_again(view, seen)
                view.close()
            else:
                shown = yield from self.refresh(self.floor(), shown)

    def floor(self):
        """The oldest state that it may show if it reads the log from now on."""
        history = self.run.history
        return history.durable if self.durable else history.acked

    def refresh(self, floor, shown):
        """Refresh, and perhaps keep what was shown before."""
        keep = self.run.rng.random() < .3
        if keep:
            self.views.append((self.reader.pin(), shown))
        old = self.reader
        self.reader = yield from old.refresh()
        if self.reader is not old:
            old.close()
        return self.look(floor)

    def look(self, floor):
        content = self.reader.content(self.void)
        run = self.run
        run.disk.note('      a reader is at generation', self.reader.meta['generation'], 'epoch',
                      self.reader.state.epoch, 'length', len(content[1]))
        if not self.void:
            run.history.find(content, floor, 'a reader')
            if self.durable and not run.world.failing:
                run.history.promised(content, floor)
        elif not any(agrees(content, state, True) for state in run.history.every):
            raise Wrong('a reader shows a state that never was')
        return content

    def look_again(self, reader, shown):
        if not self.void and reader.content() != shown:
            raise Wrong('a pinned reader sees its state change')

    def advance(self):
        """Take one step, if it is not asleep; False at the end, or when it is killed."""
        if self.run.rng.random() > self.pace:
            return self.run.rng.random() > .001
        try:
            next(self.steps)
            return True
        except (StopIteration, NoDataset):
            pass
        except Damage as damage:
            if not self.void:
                raise Wrong(f'a reader met damage: {damage}') from damage
        return False

    def end(self):
        """The locks of a process go with it."""
        for reader in [self.reader, *(view for view, _ in self.views)]:
            reader.close()

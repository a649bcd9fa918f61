# SPDX-License-Identifier: MIT
"""A reader process that runs during the writes, advanced a step at a time."""

from .history import Violation, agrees
from .layout import NoDataset
from .reader import Reader
from .records import Damage


def finish(generator):
    """Run a generator of a reader to its end without interruption."""
    while True:
        try:
            next(generator)
        except StopIteration as end:
            return end.value


class Session:
    """Opens, reads again, refreshes and closes, at some pace.

    At a refresh it may keep its snapshot as a view, which must not change until it is released. A
    session is void after a loss of the cache within its boot: commits that it saw may be lost, so
    it may find damage, but otherwise it must show some committed snapshot, except for lost values.
    The snapshot of a durable reader must be durable, unless syncs fail: the sync of a reader does
    not report the failure of another process.
    """

    def __init__(self, run):
        self.run = run
        self.void = run.lossy
        self.pace = run.rng.choice((.01, .1, .5))
        self.durable = run.rng.random() < .3
        self.reader = Reader(run.disk, self.durable)
        self.views = []         # (reader, its content)
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
        """The oldest snapshot that it may show if it reads the log from now on."""
        history = self.run.history
        return history.durable if self.durable else history.acked

    def refresh(self, floor, shown):
        """Refresh, and perhaps keep the old snapshot as a view."""
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
        run.disk.report('      a reader shows generation', self.reader.meta['generation'],
                        'sequence', self.reader.state.sequence, 'length', len(content[1]))
        if not self.void:
            run.history.find(content, floor, 'a reader')
            if self.durable and not run.world.failing:
                run.history.show_durable(content, floor)
        elif not any(agrees(content, state, True) for state in run.history.every):
            raise Violation('a reader shows a snapshot that was never committed')
        return content

    def look_again(self, reader, shown):
        if not self.void and reader.content() != shown:
            raise Violation('the snapshot of a pinned reader changes')

    def advance(self):
        """Take one step, unless asleep; return False at the end, or if the process is killed."""
        if self.run.rng.random() > self.pace:
            return self.run.rng.random() > .001
        try:
            next(self.steps)
            return True
        except (StopIteration, NoDataset):
            pass
        except Damage as damage:
            if not self.void:
                raise Violation(f'a reader finds damage: {damage}') from damage
        return False

    def end(self):
        """Release the locks of the process."""
        for reader in [self.reader, *(view for view, _ in self.views)]:
            reader.close()

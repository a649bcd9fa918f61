# SPDX-License-Identifier: MIT
"""The oracle: every snapshot that was ever committed, and the ones that may be seen now."""

from .layout import FIELDS
from .records import LOST

EMPTY = tuple(field.name for field in FIELDS), ()


def agrees(seen, state, lossy):
    """Whether `seen` is this snapshot; if `lossy`, values may be LOST."""
    if not lossy or seen == state:
        return seen == state
    return (seen[0] == state[0] and len(seen[1]) == len(state[1])
            and all(value is LOST or value == right
                    for record, rights in zip(seen[1], state[1])
                    for value, right in zip(record, rights)))


class Violation(Exception):
    """The store showed a snapshot that it must not show."""


class History:
    """Snapshots in the order of their commits: the names of the fields, and the records.

    Attributes
    ----------
    states : list of tuple
        Each committed snapshot, and at the end those whose commits were interrupted.
    every : list of tuple
        The same, including those that were lost later.
    acked : int
        The last one whose commit returned: after a kill, it or a later one is visible.
    durable : int
        The last one whose synced commit returned: it or a later one survives a power loss.
    seals : set of bool
        The values of `sealed` that may be seen.
    """

    def __init__(self):
        self.states = [EMPTY]
        self.every = [EMPTY]
        self.acked = 0
        self.durable = 0
        self.seals = {False}

    def attempt(self, content):
        """A commit begins: from now on its snapshot may be seen."""
        if content != self.states[-1]:
            self.states.append(content)
            self.every.append(content)

    def acknowledge(self, synced):
        """The commit returned."""
        self.acked = len(self.states) - 1
        if synced:
            self.durable = self.acked

    def show_durable(self, content, floor):
        """A durable reader shows this snapshot: the oldest one that it may be is durable."""
        shown = self.states.index(content, floor)
        self.durable = max(self.durable, shown)
        self.acked = max(self.acked, shown)

    def withdraw(self):
        """The commit failed without any effect."""
        del self.states[self.acked + 1:]

    def replacing(self):
        """A new, empty dataset replaces this one, which may be sealed."""
        self.seals.add(False)
        self.attempt(EMPTY)

    def lost_cache(self):
        """Unsynced data may be lost: by a power loss, a detached file system, an evicted file."""
        self.acked = self.durable

    def opened(self, content, synced, sealed=False, lossy=False):
        """A writer shows this snapshot; later ones and lost values are given up.

        The snapshot of an opened writer is durable if its last frame is synced.
        """
        self.states = self.states[:self.find(content, self.acked, 'a writer', lossy) + 1]
        if content != self.states[-1]:
            self.states[-1] = content
            self.every.append(content)
        self.acknowledge(synced)
        self.seals = {sealed}

    def find(self, content, floor, observer, lossy=False):
        """The position of the newest equal snapshot from `floor` on."""
        for k in range(len(self.states) - 1, floor - 1, -1):
            if agrees(content, self.states[k], lossy):
                return k
        raise Violation(f'{observer} shows {len(content[1])} records, unlike all snapshots from '
                        f'{floor} to {len(self.states) - 1}')

    def seal_seen(self, sealed):
        """A handle saw the dataset sealed or not sealed."""
        if sealed not in self.seals:
            raise Violation('sealed: ' + ('never requested' if sealed else 'lost'))

# SPDX-License-Identifier: MIT
"""The oracle: every state that was ever committed, and which of them may be seen now."""

from .layout import FIELDS
from .records import LOST

EMPTY = tuple(field.name for field in FIELDS), ()


def agrees(seen, state, lossy):
    """Whether a handle that shows `seen` is at this state; if `lossy`, values may be LOST."""
    if not lossy or seen == state:
        return seen == state
    return (seen[0] == state[0] and len(seen[1]) == len(state[1])
            and all(value is LOST or value == right
                    for record, rights in zip(seen[1], state[1])
                    for value, right in zip(record, rights)))


class Wrong(Exception):
    """The store showed what it must never show."""


class History:
    """States by the order of their commits: the names of the fields, and the records.

    Attributes
    ----------
    states : list of tuple
        Each committed state, and at the end those that were being committed when something
        happened.
    every : list of tuple
        The same, with those that were lost again.
    acked : int
        The last one whose commit returned: a kill leaves it or a later one.
    durable : int
        The last one whose synced commit returned: a power loss leaves it or a later one.
    seals : set of bool
        Whether the dataset may be seen sealed, and whether it may be seen not sealed.
    """

    def __init__(self):
        self.states = [EMPTY]
        self.every = [EMPTY]
        self.acked = 0
        self.durable = 0
        self.seals = {False}

    def attempt(self, content):
        """A commit begins: from now on its state may be seen."""
        if content != self.states[-1]:
            self.states.append(content)
            self.every.append(content)

    def acknowledge(self, synced):
        """The commit returned."""
        self.acked = len(self.states) - 1
        if synced:
            self.durable = self.acked

    def promised(self, content, floor):
        """A durable reader shows this state: the oldest that it may be is there to stay."""
        shown = self.states.index(content, floor)
        self.durable = max(self.durable, shown)
        self.acked = max(self.acked, shown)

    def withdraw(self):
        """The commit failed and left nothing."""
        del self.states[self.acked + 1:]

    def replacing(self):
        """A new, empty dataset is going to take the place, perhaps of a sealed one."""
        self.seals.add(False)
        self.attempt(EMPTY)

    def lost_cache(self):
        """What was not synced may be gone: a power loss, a file system detached, a file evicted."""
        self.acked = self.durable

    def opened(self, content, synced, sealed=False, lossy=False):
        """A writer shows this state; all later ones are given up, and values that are lost.

        What an opened writer shows is durable if its last frame is a synced one.
        """
        self.states = self.states[:self.find(content, self.acked, 'a writer', lossy) + 1]
        if content != self.states[-1]:
            self.states[-1] = content
            self.every.append(content)
        self.acknowledge(synced)
        self.seals = {sealed}

    def find(self, content, floor, who, lossy=False):
        """The newest state from `floor` on that is this one."""
        for k in range(len(self.states) - 1, floor - 1, -1):
            if agrees(content, self.states[k], lossy):
                return k
        raise Wrong(f'{who} shows {len(content[1])} records that are none of the committed states '
                    f'{floor} to {len(self.states) - 1}')

    def seal_seen(self, sealed):
        """A handle saw the dataset sealed or not."""
        if sealed not in self.seals:
            raise Wrong('sealed: ' + ('never asked for' if sealed else 'lost'))

# SPDX-License-Identifier: MIT
"""The oracle: every state that was ever committed, and which of them may be seen now."""


class Wrong(Exception):
    """The store showed what it must never show."""


class History:
    """States by the order of their commits, as lists of records.

    Attributes
    ----------
    states : list of list of tuple
        Each committed state, and at the end the one that was being committed when something
        happened.
    every : list of list of tuple
        The same, with those that were lost again.
    acked : int
        The last one whose commit returned: a kill leaves it or a later one.
    durable : int
        The last one whose synced commit returned: a power loss leaves it or a later one.
    sealed : bool
        Sealing returned.
    sealing : bool
        Sealing was begun.
    """

    def __init__(self):
        self.states = [[]]
        self.every = [[]]
        self.acked = 0
        self.durable = 0
        self.sealed = False
        self.sealing = False

    def attempt(self, records):
        """A commit begins: from now on its state may be seen."""
        if records != self.states[-1]:
            self.states.append(list(records))
            self.every.append(self.states[-1])

    def acknowledge(self, synced):
        """The commit returned."""
        self.acked = len(self.states) - 1
        if synced:
            self.durable = self.acked

    def withdraw(self):
        """The commit failed and left nothing."""
        del self.states[self.acked + 1:]

    def replacing(self):
        """A new, empty dataset is going to take the place, perhaps of a sealed one."""
        self.sealing = self.sealing or self.sealed
        self.sealed = False
        self.attempt([])

    def lost_cache(self):
        """What was not synced may be gone: a power loss, a file system detached, a file evicted."""
        self.acked = self.durable

    def opened(self, records, synced):
        """A writer shows this state; all later ones are given up.

        What an opened writer shows is durable if its last frame is a synced one.
        """
        self.states = self.states[:self.find(records, self.acked, 'a writer') + 1]
        self.acknowledge(synced)
        self.sealing = False

    def find(self, records, floor, who):
        """The newest state from `floor` on that has these records."""
        for k in range(len(self.states) - 1, floor - 1, -1):
            if self.states[k] == records:
                return k
        raise Wrong(f'{who} shows {len(records)} records that are none of the committed states '
                    f'{floor} to {len(self.states) - 1}')

    def seal_seen(self, sealed):
        """A handle saw the dataset sealed or not."""
        if sealed and not (self.sealing or self.sealed) or self.sealed and not sealed:
            raise Wrong('sealed: ' + ('never asked for' if sealed else 'lost'))

# SPDX-License-Identifier: MIT
"""Scripted scenarios: what the disk loses is chosen, not drawn.

Each is the shortest story in which one rule of the protocol is all that stands between a store
and a wrong state.
"""

from . import scenes_commit, scenes_old, scenes_switch
from .play import guarded

SCENARIOS = scenes_commit.SCENARIOS + scenes_switch.SCENARIOS + scenes_old.SCENARIOS


def direct(faults=frozenset()):
    """What went wrong in the first scenario that did, or None."""
    for scenario in SCENARIOS:
        wrong = guarded(lambda scenario=scenario: scenario(faults))
        if wrong:
            return f'{scenario.__name__}: {wrong}'
    return None

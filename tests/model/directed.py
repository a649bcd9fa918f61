# SPDX-License-Identifier: MIT
"""Scripted scenarios, in which the losses of the disk are chosen, not random.

Each is the shortest history in which exactly one rule of the protocol prevents a wrong snapshot.
"""

from . import scenarios_commit, scenarios_obsolete, scenarios_install
from .play import failure_of

SCENARIOS = scenarios_commit.SCENARIOS + scenarios_install.SCENARIOS + scenarios_obsolete.SCENARIOS


def direct(faults=frozenset()):
    """The failure of the first scenario that fails, or None."""
    for scenario in SCENARIOS:
        wrong = failure_of(lambda scenario=scenario: scenario(faults))
        if wrong:
            return f'{scenario.__name__}: {wrong}'
    return None

# SPDX-License-Identifier: MIT
"""Hosts train on one remote dataset, are killed, and continue as fewer and as more hosts.

This is the short form of hosts.py, which does most of the comparing. Nothing here depends on how
fast this machine is. It needs the Python package, so `make check-python` runs it.
"""

import pytest

pytest.importorskip('loaderx._remote', reason='libloaderx-remote was not built')

from hosts import Plan, run
from network import Unavailable

PLAN = Plan(hosts=(2, 1, 4), records=4 * 32 * 8 + 64, record=16_000, lanes=32, block=8, batch=32,
            delay=2, rate=100, loss=0.01)


def test_killed_hosts_continue_as_other_numbers_of_hosts(tmp_path):
    try:
        rows = run(PLAN, tmp_path)
    except Unavailable as reason:
        pytest.skip(str(reason))
    fewer, more = rows[1], rows[2:]
    assert all(row.requests - row.repeated <= row.blocks for row in rows)
    assert rows[0].moved == 0 and 0 < fewer.moved <= fewer.due
    assert sum(row.moved for row in more) == more[0].due
    assert [row.requests for row in more[2:]] == [0]    # from the caches

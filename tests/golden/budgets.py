# SPDX-License-Identifier: MIT
"""Batches by a budget: section 7.6 of doc/orders.md, for orders.py."""
from tables import entries

COUNT = 14  # maximum number of batches of a golden


def fits(order, costs):
    """Whether samples of these costs are a batch."""
    taken = len(costs) * max(costs) if order['padded'] else sum(costs)
    return taken <= order['budget'] and (order['rows'] == 0 or len(costs) <= order['rows'])


def ends(order, costs):
    """The offsets at which the batches of an epoch end."""
    begin = 0
    while begin < len(costs):
        count = 1
        while begin + count < len(costs) and fits(order, costs[begin:begin + count + 1]):
            count += 1
        begin += count
        yield begin


def batches(order, position, at):
    """The number of batches of an epoch, and the ends of the first; `at` gives an index."""
    n, costs = order['length'], entries(order, 'table')
    start = position // n * n
    here = [costs[at(order['part'], k)] for k in range(start, min(start + n, 2**64 - 1))]
    all_ends = list(ends(order, here))
    return {'count': len(all_ends), 'ends': all_ends[:COUNT]}

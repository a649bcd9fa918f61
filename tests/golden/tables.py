# SPDX-License-Identifier: MIT
"""The tables of golden files, given in full, or by a rule if they are long."""
from functools import lru_cache


@lru_cache(maxsize=None)
def squares(count, times, modulo):
    """Entry i is i * i * times modulo a number."""
    return tuple(i * i * times % modulo for i in range(count))


def entries(order, key):
    """The value of a key of an order."""
    value = order.get(key, ())
    return squares(**value) if isinstance(value, dict) else tuple(value)


def doubles(order):
    """The given weights, with 0 for -0."""
    return tuple(float(weight) + 0.0 for weight in entries(order, 'given'))

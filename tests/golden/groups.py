# SPDX-License-Identifier: MIT
"""Orders by groups, and splits: sections 10 and 11 of doc/orders.md, for orders.py."""
from fractions import Fraction
from functools import lru_cache
from math import floor

from chance import WORD, key_word, permute, philox
from tables import entries


@lru_cache(maxsize=None)
def classes_of(classes):
    """The indices of each class, the classes in the order of their numbers."""
    members = {}
    for index, number in enumerate(classes):
        members.setdefault(number, []).append(index)
    return [members[number] for number in sorted(members)]


def balanced(order, k):
    """Index at position k of equally frequent classes."""
    members, seed = classes_of(entries(order, 'table')), order['seed']
    turn, place = divmod(k, len(members))
    which = permute(len(members), key_word(seed, 0, 8, 0), turn, place, 256)
    here = members[which]
    epoch, offset = divmod(turn, len(here))
    return here[permute(len(here), key_word(seed, which, 9, 0), epoch, offset, 256)]


@lru_cache(maxsize=None)
def sorted_of(lengths):
    """The indices, those of short records first."""
    return sorted(range(len(lengths)), key=lambda index: (lengths[index], index))


def bucketed(order, k):
    """Index at position k of batches of similar lengths."""
    n, batch, size, seed = (order[key] for key in ('length', 'batch', 'bucket', 'seed'))
    epoch, offset = divmod(k, n)
    batches = n // batch
    if offset < batches * batch:
        which = permute(batches, key_word(seed, 0, 10, 0), epoch, offset // batch)
        offset = which * batch + offset % batch
    bucket, offset = divmod(offset, size)
    here = min(size, n - bucket * size)
    offset = permute(here, key_word(seed, bucket, 11, 0), epoch, offset, 256)
    return sorted_of(entries(order, 'table'))[bucket * size + offset]


def split(keys, seed, begin, end):
    """The indices of a part of all hashes."""
    key = key_word(seed, 0, 12, 0)
    low, high = (floor(Fraction(number) * WORD) for number in (begin, end))
    return [i for i, x in enumerate(keys) if low <= philox(x, 0, key)[0] < high]

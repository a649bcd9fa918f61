# SPDX-License-Identifier: MIT
"""The data-parallel rank of this process, from a sharding of JAX."""

from __future__ import annotations

from typing import Any, Dict, Iterable, List, Mapping, Optional, Tuple

import jax as _jax    # the JAX library, not loaderx.jax

from .ranks import World

__all__ = ['find_rank', 'rank_of_parts']

_Part = Tuple[int, int]    # its first row, and the one after its last

_DIMENSIONS = 8    # the most that a sharding may need
_SHOWN = 8         # the number of processes that an error describes


def find_rank(sharding: Any, rank: Optional[int], world: Optional[int]) -> World:
    """Return the rank of this process, and the number of ranks, that a sharding needs.

    Processes that have the same rows of a global batch have the same rank. `rank` and `world` are
    what the caller passed: an error if they differ.
    """
    rows = len(sharding.device_set)    # divisible by the number of parts of any axis
    found = rank_of_parts(_parts(sharding, rows), _jax.process_index(), rows)
    for name, given, needed in (('rank', rank, found.rank), ('world', world, found.world)):
        if given is not None and given != needed:
            raise ValueError(f'{name} is {given}, but must be {needed}: with this sharding, this '
                             f'process has the rows of rank {found.rank} of {found.world}. Omit '
                             'rank and world, which the sharding determines')
    return found


def _parts(sharding: Any, rows: int) -> Dict[int, List[_Part]]:
    """Return which parts of the first axis each process has, in batches of so many rows."""
    parts: Dict[int, List[_Part]] = {}
    for device, place in sharding.devices_indices_map(_shape(sharding, rows)).items():
        first, end, _ = place[0].indices(rows)
        parts.setdefault(device.process_index, []).append((first, end))
    return parts


def _shape(sharding: Any, rows: int) -> Tuple[int, ...]:
    """Return the shape with the fewest dimensions that a sharding can be for."""
    for dimensions in range(1, _DIMENSIONS + 1):
        try:
            sharding.check_compatible_aval((rows,) * dimensions)
            break
        except ValueError as error:
            if dimensions == _DIMENSIONS:
                raise ValueError(f'sharding cannot split any batch: {error}') from None
    return (rows,) * dimensions


def rank_of_parts(parts: Mapping[int, Iterable[_Part]], process: int, rows: int) -> World:
    """Return the rank of a process, and the number of ranks.

    Parameters
    ----------
    parts : dict
        The parts of the first axis that each process has.
    process : int
        The index of the process.
    rows : int
        The length of the first axis.

    Raises
    ------
    ValueError
        The processes do not divide the axis among them: two of them share a part of their rows, or
        they have different numbers of rows.
    """
    held = {number: tuple(sorted(set(some))) for number, some in parts.items()}
    if process not in held:
        raise ValueError(f'sharding has no device of this process, whose index is {process}: '
                         'make the loader only in processes that have a part of the batches')
    ranks = sorted(set(held.values()))
    bounds = sorted(part for own in ranks for part in own)
    tiles = [first for first, _ in bounds] + [rows] == [0] + [end for _, end in bounds]
    if not tiles or len({sum(end - first for first, end in own) for own in ranks}) != 1:
        shown = [f'process {number} has {_describe(held[number])}'
                 for number in sorted(held)[:_SHOWN]]
        more = '; ...' if len(held) > _SHOWN else ''
        raise ValueError(f'sharding does not divide batches evenly among the processes: of each '
                         f'{rows} rows, {"; ".join(shown)}{more}. Processes must have the same '
                         'rows, or equally many that no other has')
    return World(ranks.index(held[process]), len(ranks))


def _describe(parts: Iterable[_Part]) -> str:
    return ' and '.join(f'{first}:{end}' for first, end in parts)

# SPDX-License-Identifier: MIT
"""The base class of objects that are indexed like an array but cannot be compared like one."""

from __future__ import annotations

from typing import Any, NoReturn

__all__ = ['ComparedByValue']


class ComparedByValue:
    """An object that is indexed like an array; ``[:]`` reads its values.

    Python's default ``==`` would return False without reading any values, unlike that of an array,
    and the default ``in`` would read the values one by one. Both raise an error instead. Objects
    are hashed by identity.
    """

    __slots__ = ()

    def _refuse(self, other: object) -> NoReturn:
        raise TypeError(f'a {type(self).__name__} cannot be compared: compare the values that [:] '
                        f'reads, as in {self._expression()}[:] == value')

    def __contains__(self, value: object) -> bool:
        raise TypeError(f'a {type(self).__name__} cannot be searched: search the values that [:] '
                        f'reads, as in value in {self._expression()}[:]')

    def _expression(self) -> str:
        return 'dataset'

    __eq__: Any = _refuse
    __ne__: Any = _refuse
    __lt__: Any = _refuse
    __le__: Any = _refuse
    __gt__: Any = _refuse
    __ge__: Any = _refuse
    __hash__ = object.__hash__

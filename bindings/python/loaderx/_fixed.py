# SPDX-License-Identifier: MIT
"""The base class of objects whose attributes the caller cannot set."""

from __future__ import annotations

from types import MemberDescriptorType
from typing import Any, ClassVar

__all__ = ['Fixed', 'is_ours']

_PACKAGE = __name__.partition('.')[0]


def is_ours(kind: type) -> bool:
    """Return whether a class belongs to this package, not to its user."""
    return kind.__module__.partition('.')[0] == _PACKAGE


class Fixed:
    """An object that refuses assignments that nothing would read, such as ``loader.order = ...``.

    The constructor sets each public attribute once; the class declares them, by an annotation or in
    ``__slots__``. Later changes by the class itself go through ``vars(self)``. A user's subclass
    may set attributes of its own. Private attributes can be set as usual.
    """

    __slots__ = ()

    _then: ClassVar[str] = ''    # how to go on with the new object, for the error

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name.startswith('_') or self._takes(name, value)):
            kind = type(self).__name__
            raise AttributeError(f'{kind}.{name} cannot be set, because this would have no effect: '
                                 f'make a new {kind}{self._then}', name=name, obj=self)
        super().__setattr__(name, value)

    def _takes(self, name: str, value: Any) -> bool:
        bases = type(self).__mro__
        ours = next(filter(is_ours, bases)).__mro__
        for base in bases:
            # Those of other classes could fail, because Python 3.14 evaluates them only here.
            declared = is_ours(base) and name in getattr(base, '__annotations__', ())
            if declared or name in vars(base):
                if base not in ours:
                    return True    # an attribute of the user's class
                if declared or isinstance(vars(base)[name], MemberDescriptorType):
                    return not hasattr(self, name) or getattr(self, name) is value
                return False
        return bases != ours

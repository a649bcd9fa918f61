# SPDX-License-Identifier: MIT
"""The entry of a dataset's card from which an interrupted import continues.

This is the entry that lib/importer/import-state.h describes: each of the two kinds of imports
refuses to continue one of the other kind. An import of Arrow files needs no inputs in it, because
it can tell from the number of records in the dataset how far it got.
"""

from __future__ import annotations

import errno
import json
import os
from typing import Any, Dict, Literal, Optional

from .errors import CorruptError, LoaderxError
from .sources import Dataset
from .writer import Writer

__all__ = ['MARK', 'Begun', 'ImportState']

MARK = 'loaderx.import'

# What an import does to the dataset: create it, append to it, continue an interrupted import, or
# nothing, because the import was complete.
Begun = Literal['new', 'append', 'again', 'complete']

_VERSION = 1
_KEEP = f'to keep the dataset as it is, remove the entry {MARK} of its card'


class ImportState:
    """The state of an import into the dataset at `path`; `digest` identifies the import."""

    def __init__(self, path: str, digest: int) -> None:
        self.first = 0    # the length of the dataset before the import
        self._path = path
        self._digest = digest
        self._changes = self._done = 0

    def begin(self, resume: bool, append: bool) -> Begun:
        """Return what the import is to do."""
        exists = os.path.isfile(os.path.join(self._path, 'meta.json'))
        if exists:
            with Dataset(self._path) as dataset:
                marked = MARK in dataset.card
            if marked and not resume:
                raise self._error(LoaderxError, 'LX_ERR_STATE', 'an import into the dataset is not '
                                  f'complete: pass resume=True to continue it or, {_KEEP}')
            if marked:
                return 'again'
            self._check_former(resume or append)
        if exists and resume and not append:
            return 'complete'
        if exists and not append:
            raise FileExistsError(errno.EEXIST, 'a dataset already exists: pass append=True to '
                                  'append to it, or choose another path', self._path)
        if append and resume:
            raise FileNotFoundError(errno.ENOENT, 'no interrupted import into the dataset is '
                                    'known: it is complete, or did not begin', self._path)
        return 'append' if append else 'new'

    def open(self, writer: Writer, begun: Begun) -> None:
        """Begin or continue the import, now that no other writer can change the dataset."""
        with Dataset(self._path) as dataset:
            text, length = dataset.card.get(MARK), len(dataset)
            self._changes = dataset.identity['changes']
        if (text is not None) != (begun != 'append'):
            raise BlockingIOError(errno.EAGAIN, 'another import into the dataset is running',
                                  self._path)
        if text is not None and begun == 'again':
            self._continue(text, length)
        elif begun == 'append':
            self.first = length
        self._done = length
        if begun == 'append':
            writer.set_card(self.entry(length))

    def entry(self, length: int) -> Dict[str, Optional[str]]:
        """Return the entry to store before a commit after which the dataset has this length."""
        points = {name: [number, 0, self.first, 0]
                  for name, number in (('done', self._done), ('next', length))}
        return {MARK: json.dumps({'version': _VERSION, 'digest': self._digest, 'classes': 0,
                                  'changes': self._changes, 'first': self.first, **points},
                                 separators=(',', ':'))}

    def commit(self, writer: Writer) -> None:
        """Commit the with-block so far."""
        length = len(writer)
        writer._commit_card(self.entry(length))
        self._done = length

    def _check_former(self, wanted: bool) -> None:
        name = (self._path.rstrip('/') or self._path) + '.import'
        if wanted and os.path.isfile(name) and not os.path.islink(name):
            raise LoaderxError(f'{name}: if an import of loaderx 1.0.0-rc1 left this file, it is '
                               'not complete and cannot continue: remove the file and the dataset, '
                               'and import again; otherwise, move the file away')

    def _continue(self, text: str, length: int) -> None:
        """Take over the state of the interrupted import."""
        try:
            state = json.loads(text)
            if state['version'] != _VERSION:
                raise self._error(LoaderxError, 'LX_ERR_UNSUPPORTED', 'a newer version of the '
                                  'library began this import: continue with it')
            first, changes, digest = (state[key] for key in ('first', 'changes', 'digest'))
            (done, *others), (after, *rest) = state['done'], state['next']
            numbers = [first, changes, digest, done, after, *others, *rest]
            if len(numbers) != 11 or not all(type(number) is int for number in numbers) or \
                    not 0 <= first <= done <= after:
                raise ValueError
        except (KeyError, TypeError, ValueError, RecursionError):
            raise self._error(CorruptError, 'LX_ERR_CORRUPT', f'the entry {MARK} of the card, from '
                              'which an interrupted import continues, is damaged: remove the '
                              f'dataset and import again; {_KEEP}') from None
        if digest != self._digest:
            raise ValueError(f'{self._path}: the interrupted import had other inputs, columns or '
                             'fields, or was no import of Arrow files: give the same ones')
        if length not in (done, after) or (changes != self._changes and after != 0):
            raise ValueError(f'{self._path}: records were appended, replaced or deleted after an '
                             'import into the dataset was interrupted, so it cannot continue: '
                             f'remove the dataset and import again; {_KEEP}')
        self.first = first

    def _error(self, kind: Any, status: str, message: str) -> Any:
        error = kind(f'{self._path}: {message}')
        error.status, error.path, error.message = status, self._path, message
        return error

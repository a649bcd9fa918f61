# SPDX-License-Identifier: MIT
"""The files that a URI of dmlc-core names."""

from __future__ import annotations

import os
from typing import Iterable, List, Union

__all__ = ['list_files']

Path = Union[str, 'os.PathLike[str]']


def list_files(uri: Union[Path, Iterable[Path]], suffix: str = '.rec') -> List[Path]:
    """Return the files that a URI of dmlc-core names: files of records, or indexes."""
    if isinstance(uri, str):
        given: List[Path] = [part for part in uri.split(';') if part]
    else:
        given = [uri] if isinstance(uri, os.PathLike) else list(uri)
    files: List[Path] = []
    for path in given:
        text = os.fspath(path)
        scheme, separator, rest = text.partition('://')
        if separator and scheme != 'file':
            raise ValueError(f'{scheme}:// is not supported, in {text!r}: use a file')
        text = rest if separator else text
        if os.path.isdir(text):
            files += _list_folder(text, suffix)
        else:
            files.append(text)
    return files


def _list_folder(folder: str, suffix: str) -> List[Path]:
    """Return the files of a folder, but of a pair of records and index only that with `suffix`."""
    with os.scandir(folder) as entries:
        paths = {entry.name: entry.path for entry in entries
                 if entry.is_file() and not entry.name.startswith('.')}
    other = '.idx' if suffix == '.rec' else '.rec'
    return [paths[name] for name in sorted(paths)
            if not (name.endswith(other) and name[:-len(other)] + suffix in paths)]

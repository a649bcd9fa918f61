# SPDX-License-Identifier: MIT
"""The files of a dataset's directory, and the atomic replacement of meta.json."""

import json
import re
from typing import NamedTuple

from .records import CHECK, ENTRY, Damage, crc


class Field(NamedTuple):
    """A field of the schema; the stem names its tables, and is never used by another field."""

    id: int
    name: str
    stem: str


FIELDS = (Field(0, 'image', 'image'), Field(1, 'label', 'label'))      # those of a new dataset
KINDS = {'offset': ENTRY.size, 'check': CHECK.size}
CHUNK_RECORDS = 6       # small, so that runs of a few dozen records fill several chunks
CHUNK_BYTES = 900
GROWTH = 256            # tables and chunks grow in steps, so that a seal truncates them


class NoDataset(Exception):
    """meta.json is absent: no dataset was created here, or its creation was interrupted."""


class Sealed(Exception):
    """A sealed dataset cannot be opened for writing."""


def log_name(generation):
    return f'LOG.{generation}' if generation else 'LOG'


def table_name(field, kind, tables):
    stem = f'{field.stem}.{kind}'
    return f'{stem}.{tables}' if tables else stem


def table_names(fields, tables):
    return [table_name(field, kind, tables) for field in fields for kind in KINDS]


def new_field(meta, name, faults=frozenset()):
    """A field for `name`; after a drop or a rename, the id makes its stem unique."""
    number = meta['next_field']
    used = len(meta['fields']) < number or any(stem == name for _, _, stem in meta['fields'])
    return Field(number, name, f'{name}~{number}' if used and 'stemreuse' not in faults else name)


def parse_log(name):
    """The generation in the name of a log, or None."""
    found = re.fullmatch(r'LOG(?:\.([1-9]\d*))?', name)
    return int(found[1] or 0) if found else None


def parse_table(name):
    """The stem and table generation in the name of a table, or None."""
    found = re.fullmatch(r'(.*)\.(?:offset|check)(?:\.([1-9]\d*))?', name)
    return (found[1], int(found[2] or 0)) if found else None


def chunk_name(chunk):
    return f'{chunk}.zr'


def dataset_directory(disk):
    directory = disk.home.get('dataset')
    if directory is None:
        raise NoDataset
    return directory


def make_fresh(directory, name):
    """Make an empty file of this name; remove one that an interrupted attempt left."""
    if directory.get(name):
        directory.unlink(name)
    return directory.make_file(name)


def write_meta(directory, meta, faults=frozenset()):
    """Replace meta.json atomically: write, sync, rename. The caller then syncs the directory."""
    successor = make_fresh(directory, 'meta.json.new')
    text = json.dumps(meta).encode()[1:]
    successor.pwrite(0, b'{"checksum": "%08x",' % crc(text) + text)
    if 'nometasync' not in faults:
        successor.sync()
    directory.rename('meta.json.new', 'meta.json')


def read_meta(directory):
    """meta.json and its file, whose identity changes at an installation."""
    file = directory.get('meta.json')
    if file is None:
        raise NoDataset
    try:
        text = file.pread()
        meta = json.loads(text)
        stamp = meta.pop('checksum')
    except (ValueError, KeyError) as error:
        raise Damage(f'meta.json: {error}') from error
    if stamp != f'{crc(text[24:]):08x}':
        raise Damage('meta.json: checksum mismatch')
    return meta, file

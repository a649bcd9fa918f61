# SPDX-License-Identifier: MIT
"""Names of classes that Arrow schemas of Hugging Face have, for the card of a dataset."""

from __future__ import annotations

import json
from typing import Any, Dict, List, Mapping, Optional

from ._logging import log
from ._tables import find_class

__all__ = ['metadata_of', 'with_class_names']

# lib/importer/class-names.c stores the same entry under the same conditions: it leaves a part of
# the card free for the entry that an import has until it is complete.
_KEY = 'classes'
_MAX_BYTES, _MAX_ENTRIES, _MAX_KEY = 65536 - 1024, 64, 64


def metadata_of(table: Any) -> Any:
    """Return the metadata of the Arrow schema of a table, or None."""
    for name in 'Dataset', 'IterableDataset':
        kind = find_class('datasets', name)
        if kind is not None and isinstance(table, kind):
            return table.features and table.features.arrow_schema.metadata
    for name in 'Table', 'RecordBatch', 'RecordBatchReader':
        kind = find_class('pyarrow', name)
        if kind is not None and isinstance(table, kind):
            return table.schema.metadata
    return None


def with_class_names(card: Mapping[str, str], metadata: Any,
                     fields: Mapping[str, str]) -> Dict[str, str]:
    """Return the card of a new dataset, with the names of classes that it does not have.

    `fields` has the name of the field of each column.
    """
    changed = dict(card)
    names = {field: found for column, field in fields.items()
             if (found := _names_of(_features_of(metadata).get(column)))}
    for field, classes in names.items():
        key = _KEY if len(names) == 1 else f'{_KEY}.{field}'
        if key in card:
            continue
        added = {**changed, key: json.dumps(classes, ensure_ascii=False, separators=(',', ':'))}
        if _fits(added) and len(key) <= _MAX_KEY:
            changed = added
        else:
            log(f'the names of the {len(classes)} classes of the field {field!r} are not stored in '
                'the card, because they do not fit', True)
    return changed


def _features_of(metadata: Any) -> Mapping[str, Any]:
    """Return what a schema says about its columns; the metadata of a file may be anything."""
    try:
        features = json.loads((metadata or {})[b'huggingface'])['info']['features']
    except (KeyError, TypeError, ValueError, RecursionError):
        return {}
    return features if isinstance(features, dict) else {}


def _names_of(feature: Any) -> Optional[List[str]]:
    """Return the names of the classes whose numbers a column has, or of which it has lists."""
    while isinstance(feature, list) and len(feature) == 1 or \
            isinstance(feature, dict) and feature.get('_type') in ('Sequence', 'List', 'LargeList'):
        feature = feature[0] if isinstance(feature, list) else feature.get('feature')
    if not isinstance(feature, dict) or feature.get('_type') != 'ClassLabel':
        return None
    names = feature.get('names')
    valid = isinstance(names, list) and all(isinstance(name, str) for name in names)
    return names if valid else None


def _fits(card: Mapping[Any, Any]) -> bool:
    """Return whether the texts are valid and few enough."""
    try:
        size = sum(len(text.encode()) for entry in card.items() for text in entry)
    except (AttributeError, UnicodeEncodeError):
        return False
    return size <= _MAX_BYTES and len(card) <= _MAX_ENTRIES

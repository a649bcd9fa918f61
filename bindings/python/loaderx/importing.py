# SPDX-License-Identifier: MIT
"""Functions that import files of other formats into datasets."""

from __future__ import annotations

import os
from typing import Any, Dict, List, Literal, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

from . import _core
from ._check import UINT64_MAX, boolean
from ._progress import Progress, reporting
from .executor import Executor
from .field import COMPRESSIONS, Field
from .opening import Durability
from .sources.dataset import Path

OnBad = Literal['stop', 'skip']

_Inputs = Union[Path, Sequence[Path]]
_Fields = Optional[Mapping[str, Union[str, Field]]]
_Card = Optional[Mapping[str, str]]


class ImportReport(NamedTuple):
    """What an import did.

    Attributes
    ----------
    records : int
        The number of records that this call appended.
    resumed : int
        The number of records that an interrupted import had already appended.
    length : int
        The number of records now in the dataset.
    bytes : int
        The size of the values that this call appended, in bytes.
    bad : int
        The number of bad records that were skipped, including those that an interrupted import
        skipped.
    skipped : list of dict
        The first 1,000 of them; after an interruption, from the input at which the import was
        interrupted. Each dict has the keys 'path', 'record' (its number in the input, counted from
        0), 'offset' (after decompression), 'field' and 'message'. Of an input that cannot be
        opened, the record and the offset are None.
    """

    records: int
    resumed: int
    length: int
    bytes: int
    bad: int
    skipped: List[Dict[str, Any]]


def import_lines(inputs: _Inputs, path: Path, *, field: str = 'text', fields: _Fields = None,
                 compress: str = 'raw', on_bad: OnBad = 'stop', resume: bool = False,
                 append: bool = False, durability: Optional[Durability] = None,
                 executor: Optional[Executor] = None, card: _Card = None,
                 progress: Progress = True) -> ImportReport:
    """Import texts: each line is a record with one field.

    Lines end with LF or CR LF; the last one may lack its end. They must be UTF-8, unless `fields`
    says that they are bytes.

    Parameters
    ----------
    inputs : path-like or sequence of path-like
        The files, in the order of their records; '-' is the standard input. Files may be compressed
        with gzip or zstd, and may be pipes.
    path : path-like
        The directory of the dataset.
    field : str, optional
        The name of the field.
    fields : dict of str to Field or str, optional
        Types of fields. A `Field` also sets how its values are stored. A str is a dtype, which may
        be followed by a shape, as in 'float32[3,4]' or, if the first extent varies, 'int32[?]';
        'bytes'; 'str', which must be UTF-8; 'json', which can store any value; 'image', an encoded
        image; or 'ignore', which leaves the field out. The types of other fields are derived from
        the first records, up to 1,000 within 4 MiB. A later record that does not fit is a bad
        record. Numbers that are text are converted only to bool, integers, float32 and float64;
        'float32' and 'float64' round them, but no whole number is rounded because of a derived
        type: such a field becomes json, or str in CSV, and a later such number is a bad record.
        If no record has a field that is not ignored, the call fails, because the name may be
        misspelt: before the import if the first records are all, and otherwise when it is complete.
    compress : {'raw', 'flate', 'zstd'}, optional
        How the other fields whose values vary in size are stored; see `Field`.
    on_bad : {'stop', 'skip'}, optional
        What to do about a record that is damaged or does not fit its fields: fail, or leave it out
        and list it in the result.
    resume : bool, optional
        Whether to continue an import that was interrupted, by an exception, a kill or a power loss.
        The other arguments must be the same, except `on_bad`. The result is the same as without the
        interruption. If none was interrupted, the import begins; if it was complete, nothing
        happens. Until an import is complete, the card has the entry ``loaderx.import``: `open` logs
        a warning, and the dataset cannot be sealed, backed up or pushed. Remove the entry to keep
        the dataset as it is.
    append : bool, optional
        Whether to append to an existing dataset, which must have exactly the fields of the inputs.
    durability, executor, card
        See `create`. The card is that of a new dataset; it is not allowed with `append`.
    progress : bool or callable, optional
        See `copy`; the progress is counted in bytes of the inputs, and the total of pipes is None.

    Returns
    -------
    ImportReport
        The number of records, and the bad records.

    Raises
    ------
    FileExistsError
        `path` exists, and neither `resume` nor `append` is set.
    CorruptError
        A record is damaged; the message has its path, number and offset.
    ValueError
        A record does not fit the fields, or an argument is invalid; or records were appended,
        replaced or deleted after the import was interrupted.
    LoaderxError
        An import is not complete, and `resume` is not set.

    Examples
    --------
    >>> import pathlib
    >>> _ = pathlib.Path('lines.txt').write_text('one\\ntwo\\n')
    >>> import_lines('lines.txt', 'lines').records
    2
    >>> open('lines')['text'][1]
    'two'
    """
    return _run('lines', inputs, path, {'field': field}, fields, compress, on_bad, resume, append,
                durability, executor, card, progress)


def import_jsonl(inputs: _Inputs, path: Path, *, fields: _Fields = None, compress: str = 'raw',
                 on_bad: OnBad = 'stop', resume: bool = False, append: bool = False,
                 durability: Optional[Durability] = None, executor: Optional[Executor] = None,
                 card: _Card = None, progress: Progress = True) -> ImportReport:
    """Import JSON Lines: each line is a JSON object whose keys are fields.

    Whole numbers become int64, other numbers float64, booleans bool, strings str, and lists of
    numbers arrays. If their first extents differ, as those of lists of tokens, the field is ragged.
    All other values are stored as JSON. Null and absent keys are missing values. NaN and Infinity
    are not JSON: a line with one of them is bad.

    Parameters
    ----------
    inputs, path, fields, compress, on_bad, resume, append, durability, executor, card, progress
        See `import_lines`.

    Returns
    -------
    ImportReport
        See `import_lines`.

    Examples
    --------
    >>> import json, pathlib
    >>> reviews = [{'stars': 5, 'text': 'good', 'box': [1, 2]},
    ...            {'stars': 1, 'text': 'bad', 'box': [3, 4]}]
    >>> text = '\\n'.join(map(json.dumps, reviews))
    >>> _ = pathlib.Path('reviews.jsonl').write_text(text)
    >>> import_jsonl('reviews.jsonl', 'reviews', fields={'stars': 'float32'}).records
    2
    >>> open('reviews')['stars'][:].tolist(), open('reviews')['box'][1].tolist()
    ([5.0, 1.0], [3, 4])
    """
    return _run('jsonl', inputs, path, {}, fields, compress, on_bad, resume, append, durability,
                executor, card, progress)


def import_csv(inputs: _Inputs, path: Path, *, delimiter: str = ',', header: bool = True,
               fields: _Fields = None, compress: str = 'raw', on_bad: OnBad = 'stop',
               resume: bool = False, append: bool = False, durability: Optional[Durability] = None,
               executor: Optional[Executor] = None, card: _Card = None,
               progress: Progress = True) -> ImportReport:
    """Import comma-separated values, as in RFC 4180.

    Columns of numbers become int64 or float64, with missing values for empty words; all others are
    str. The words nan, inf and infinity, in any case and with or without a sign, are numbers. A
    blank line is not a record, except that it is a missing value if there is only one column.

    Parameters
    ----------
    delimiter : str, optional
        One character.
    header : bool, optional
        Whether the first record of each input names the fields. Otherwise, they are called column0,
        column1 and so on.
    inputs, path, fields, compress, on_bad, resume, append, durability, executor, card, progress
        See `import_lines`.

    Returns
    -------
    ImportReport
        See `import_lines`.

    Examples
    --------
    >>> import pathlib
    >>> _ = pathlib.Path('sales.csv').write_text('item,price\\n"bread, white",2.5\\nmilk,1\\n')
    >>> import_csv('sales.csv', 'sales').records
    2
    >>> open('sales')['price'][:].tolist(), open('sales')['item'][0]
    ([2.5, 1.0], 'bread, white')
    """
    options = {'delimiter': '\\t' if delimiter == '\t' else delimiter,
               'header': 'yes' if boolean('header', header) else 'no'}
    return _run('csv', inputs, path, options, fields, compress, on_bad, resume, append, durability,
                executor, card, progress)


def import_tar(inputs: _Inputs, path: Path, *, key: Optional[str] = None, fields: _Fields = None,
               compress: str = 'raw', on_bad: OnBad = 'stop', resume: bool = False,
               append: bool = False, durability: Optional[Durability] = None,
               executor: Optional[Executor] = None, card: _Card = None,
               progress: Progress = True) -> ImportReport:
    """Import tar archives as written for WebDataset.

    Consecutive members whose names are equal up to the first dot of the last component are a
    record; what follows the dot names the field. 'cls' and the like become int64, 'txt' and the
    like str, 'json' JSON, 'jpg' and the like images, and all others bytes; loaderx-import(1) has
    the list. A record with a 'cls' that is not a number is bad, unless `fields` says that it is
    str. No member is extracted, and no name is used as a path. Nothing is unpickled.

    Parameters
    ----------
    key : str, optional
        The name of a field for the part of the names before the dot. By default, it is not stored.
    inputs, path, fields, compress, on_bad, resume, append, durability, executor, card, progress
        See `import_lines`.

    Returns
    -------
    ImportReport
        See `import_lines`.

    Examples
    --------
    >>> import io, tarfile
    >>> with tarfile.open('shard.tar', 'w') as archive:
    ...     for name, data in ('0.cls', b'3'), ('0.jpg', b'\\xff\\xd8\\xff'), ('1.cls', b'4'):
    ...         member = tarfile.TarInfo(name)
    ...         member.size = len(data)
    ...         archive.addfile(member, io.BytesIO(data))
    >>> import_tar('shard.tar', 'photos').records
    2
    >>> open('photos')['cls'][:].tolist()
    [3, 4]
    """
    return _run('tar', inputs, path, {} if key is None else {'key': key}, fields, compress, on_bad,
                resume, append, durability, executor, card, progress)


def import_folder(inputs: _Inputs, path: Path, *, extensions: Optional[Sequence[str]] = None,
                  hidden: bool = False, fields: _Fields = None, compress: str = 'raw',
                  on_bad: OnBad = 'stop', resume: bool = False, append: bool = False,
                  durability: Optional[Durability] = None, executor: Optional[Executor] = None,
                  card: _Card = None, progress: Progress = True) -> ImportReport:
    """Import folders of files: each file is a record, and its sub-folder is its class.

    The fields are 'data', the content; 'name', relative to the folder; 'class', the sub-folder of
    the input that contains the file; and 'label', the number of that class. The classes are the
    sub-folders of all inputs, even empty ones, and are numbered together, in the order of the bytes
    of their names, as those of `images.ImageFolder`; without sub-folders, there are no such fields.
    The names of the classes become the entry 'classes' of the card, a JSON array in the order of
    their numbers, unless `card` has this entry, or one is not UTF-8 or they do not fit, of which a
    warning tells. If records are appended, the classes of the dataset and of its card keep their
    numbers, and new ones get the next numbers.

    If the first files are all images, by their names or their first bytes, 'data' is a field of
    images; otherwise of bytes. All files are stored, in the order of their names. Symbolic links
    are followed; one that leads back to a folder above it is a bad record. Names that begin with a
    dot are left out, such as ``.ipynb_checkpoints``, and a warning says how many.

    Parameters
    ----------
    extensions : sequence of str, optional
        Only files with these extensions, such as ['jpg', 'png'], in any case.
    hidden : bool, optional
        Whether to take names that begin with a dot, too, as torchvision does.
    inputs, path, fields, compress, on_bad, resume, append, durability, executor, card, progress
        See `import_lines`; each input is a folder.

    Returns
    -------
    ImportReport
        See `import_lines`.

    Examples
    --------
    >>> import pathlib
    >>> for name in 'cat/1.txt', 'dog/2.txt':
    ...     file = pathlib.Path('animals', name)
    ...     file.parent.mkdir(parents=True, exist_ok=True)
    ...     _ = file.write_text('content')
    >>> import_folder('animals', 'imported').records
    2
    >>> open('imported')['label'][:].tolist(), open('imported')['name'][1]
    ([0, 1], 'dog/2.txt')
    >>> open('imported').card['classes']
    '["cat","dog"]'
    """
    options: Dict[str, str] = {}
    if extensions is not None:
        if isinstance(extensions, (str, bytes)):
            raise TypeError(f'extensions must be a sequence of str, not {extensions!r}')
        options['extensions'] = ','.join(each.lstrip('.') for each in extensions)
    if boolean('hidden', hidden):
        options['hidden'] = 'yes'
    return _run('folder', inputs, path, options, fields, compress, on_bad, resume, append,
                durability, executor, card, progress)


def import_tfrecord(inputs: _Inputs, path: Path, *, raw: Optional[str] = None,
                    lists: Sequence[str] = (), fields: _Fields = None, compress: str = 'raw',
                    on_bad: OnBad = 'stop', resume: bool = False, append: bool = False,
                    durability: Optional[Durability] = None, executor: Optional[Executor] = None,
                    card: _Card = None, progress: Progress = True) -> ImportReport:
    """Import TFRecord files with a tf.Example in each record: its features are the fields.

    Lists of one value become scalars, bytes, int64 or float32, and longer lists of numbers arrays.
    If the lengths of the lists of a feature differ, its field is ragged. A feature that is absent
    or has no values is a missing value. All CRCs are checked; if that of a length does not match,
    the rest of the file is lost.

    Parameters
    ----------
    raw : str, optional
        Import each payload as bytes, into a field of this name, instead of a tf.Example.
    lists : sequence of str, optional
        Features with any number of texts, which become JSON arrays. A feature with several byte
        strings that is not in this list makes its record bad, unless `fields` says 'ignore'.
    inputs, path, fields, compress, on_bad, resume, append, durability, executor, card, progress
        See `import_lines`.

    Returns
    -------
    ImportReport
        See `import_lines`.

    Examples
    --------
    >>> import pathlib
    >>> _ = pathlib.Path('a.tfrecord').write_bytes(bytes.fromhex(
    ...     '13000000000000000c91321b0a110a0f0a056c6162656c12061a040a02ac029e22ed85'))
    >>> import_tfrecord('a.tfrecord', 'examples').records
    1
    >>> open('examples')['label'][0].item()
    300
    """
    options = {} if raw is None else {'raw': raw}
    if isinstance(lists, (str, bytes)):
        raise TypeError(f'lists must be a sequence of str, not {lists!r}')
    if lists:
        options['lists'] = ','.join(lists)
    return _run('tfrecord', inputs, path, options, fields, compress, on_bad, resume, append,
                durability, executor, card, progress)


def import_mds(inputs: _Inputs, path: Path, *, fields: _Fields = None, compress: str = 'raw',
               on_bad: OnBad = 'stop', resume: bool = False, append: bool = False,
               durability: Optional[Durability] = None, executor: Optional[Executor] = None,
               card: _Card = None, progress: Progress = True) -> ImportReport:
    """Import folders of Mosaic MDS, which mosaicml-streaming writes: each column is a field.

    Numbers keep their types, 'str' becomes str, and 'str_int' and the like int64 or float64 if
    those can store them. Arrays of a fixed shape become dense fields, and arrays of which only the
    first extent varies ragged fields. Of other arrays, the elements are bytes, and a second field
    with '.shape' in its name has their shapes. 'json' becomes JSON or, if all values are lists of
    numbers, arrays. 'jpeg' and 'png' become images, and 'pil' and 'pkl' stay bytes: nothing is
    decoded or unpickled. Shards may be compressed with zstd or gz. Hashes are not checked.

    Parameters
    ----------
    inputs, path, fields, compress, on_bad, resume, append, durability, executor, card, progress
        See `import_lines`; each input is a folder with an index.json. The names in a merged index
        are paths, which are not followed: import the folders that it merges.

    Returns
    -------
    ImportReport
        See `import_lines`.

    Examples
    --------
    >>> import json, os, pathlib, struct
    >>> os.mkdir('mds')
    >>> shard = struct.pack('<4I2q', 2, 16, 24, 32, 7, 8)
    >>> _ = pathlib.Path('mds/shard.00000.mds').write_bytes(shard)
    >>> _ = pathlib.Path('mds/index.json').write_text(json.dumps({'version': 2, 'shards': [{
    ...     'version': 2, 'format': 'mds', 'column_names': ['x'], 'column_encodings': ['int'],
    ...     'column_sizes': [8], 'samples': 2, 'compression': None,
    ...     'raw_data': {'basename': 'shard.00000.mds', 'bytes': 32}, 'zip_data': None}]}))
    >>> import_mds('mds', 'from_mds').records
    2
    >>> open('from_mds')['x'][:].tolist()
    [7, 8]
    """
    return _run('mds', inputs, path, {}, fields, compress, on_bad, resume, append, durability,
                executor, card, progress)


def import_original(inputs: _Inputs, path: Path, *, field: Optional[str] = None,
                    fields: _Fields = None, compress: str = 'raw', on_bad: OnBad = 'stop',
                    resume: bool = False, append: bool = False,
                    durability: Optional[Durability] = None, executor: Optional[Executor] = None,
                    card: _Card = None, progress: Progress = True) -> ImportReport:
    """Import stores of version 2.8 of the original Python package, loaderx.

    An input is the directory of a store or of several stores, each of which is a field that has the
    name of its directory. Dense and ragged stores are read, raw or compressed, with and without a
    dictionary. Dense stores become dense fields, and stores of which only the first extent varies
    ragged fields. Of other stores, the elements are bytes, and a second field with '.shape' in its
    name has the shapes. Ragged stores of uint8 with one extent can also be 'bytes', 'str', 'json'
    or 'image' in `fields`.

    Parameters
    ----------
    field : str, optional
        The name of the field of a single store; 'data' by default.
    inputs, path, fields, compress, on_bad, resume, append, durability, executor, card, progress
        See `import_lines`; each input is a directory.

    Returns
    -------
    ImportReport
        See `import_lines`.

    Examples
    --------
    >>> import os, pathlib, struct
    >>> os.mkdir('store')
    >>> schema = b'{"dtype": "int32", "item_shape": []}'
    >>> meta = struct.pack('<QHBBIQ', 1, len(schema), 1, 0, 0, 4).ljust(2056, b'\\0') + schema
    >>> meta = meta.ljust(4096, b'\\0') + struct.pack('<QII', 0, 4, 4)
    >>> _ = pathlib.Path('store/meta.zr').write_bytes(meta)
    >>> _ = pathlib.Path('store/data_0.zr').write_bytes(struct.pack('<i', 7))
    >>> import_original('store', 'from_original', field='label').records
    1
    >>> open('from_original')['label'][0].item()
    7
    """
    return _run('original', inputs, path, {} if field is None else {'field': field}, fields,
                compress, on_bad, resume, append, durability, executor, card, progress)


def import_lmdb(inputs: _Inputs, path: Path, *, database: Optional[str] = None,
                fields: _Fields = None, compress: str = 'raw', on_bad: OnBad = 'stop',
                resume: bool = False, append: bool = False, durability: Optional[Durability] = None,
                executor: Optional[Executor] = None, card: _Card = None,
                progress: Progress = True) -> ImportReport:
    """Import LMDB databases: each key and its value are a record, in the order of the keys.

    The fields 'key' and 'value' have the bytes. The reader is this library's own: it needs no
    liblmdb, writes no lock file, and reports damage as an error. Nobody may write to the database
    meanwhile; if somebody commits, the import fails. Databases with several values for a key
    (dupsort) are not supported.

    Parameters
    ----------
    database : str, optional
        The name of a named database; by default, the main one.
    inputs, path, fields, compress, on_bad, resume, append, durability, executor, card, progress
        See `import_lines`; each input is the directory of an environment, or its data file.

    Returns
    -------
    ImportReport
        See `import_lines`.

    Examples
    --------
    >>> import pathlib, struct
    >>> def meta(page, root):
    ...     head = struct.pack('<QHHHH', page, 0, 8, 0, 0)
    ...     state = struct.pack('<IIQQ', 0xbeefc0de, 1, 0, 1536)
    ...     free = struct.pack('<IHHQQQQQ', 512, 0, 0, 0, 0, 0, 0, 2**64 - 1)
    ...     return (head + state + free + root + struct.pack('<QQ', 2, page)).ljust(512, b'\\0')
    >>> root = struct.pack('<IHHQQQQQ', 0, 0, 1, 0, 1, 0, 1, 2)
    >>> node = struct.pack('<HHHH', 5, 0, 0, 3) + b'keyvalue'
    >>> leaf = struct.pack('<QHHHHH', 2, 0, 2, 18, 496, 496).ljust(496, b'\\0') + node
    >>> _ = pathlib.Path('data.mdb').write_bytes(meta(0, root) + meta(1, root) + leaf)
    >>> import_lmdb('data.mdb', 'from_lmdb').records
    1
    >>> bytes(open('from_lmdb')['value'][0])
    b'value'
    """
    return _run('lmdb', inputs, path, {} if database is None else {'database': database}, fields,
                compress, on_bad, resume, append, durability, executor, card, progress)


def _run(form: str, inputs: _Inputs, path: Path, options: Mapping[str, str], fields: _Fields,
         compress: str, on_bad: str, resume: bool, append: bool, durability: Optional[str],
         executor: Optional[Executor], card: _Card, progress: Progress) -> ImportReport:
    if on_bad not in ('stop', 'skip'):
        raise ValueError(f"on_bad must be 'stop' or 'skip', not {on_bad!r}")
    for name, value in options.items():
        if not isinstance(value, str):
            raise TypeError(f'{name} must be a str, not {type(value).__name__}')
    single = isinstance(inputs, (str, bytes, os.PathLike))
    paths: List[Any] = [inputs] if single else list(inputs)    # type: ignore[arg-type]
    if not paths:
        raise ValueError('inputs is empty: there is nothing to import')
    if card is not None and not isinstance(card, Mapping):
        raise TypeError(f'card must be a dict of str to str, not {type(card).__name__}')
    if append and card is not None:
        raise ValueError('card applies to new datasets only: do not set it to append')
    types, storages = _take_fields(fields)
    if compress not in COMPRESSIONS:
        raise ValueError(f"compress must be 'raw', 'flate' or 'zstd', not {compress!r}")
    if compress != 'raw':
        storages.append((None, compress, 0, 0))
    with reporting(progress, 'import', 'B') as report:

        def advance(done: int, total: int) -> None:
            if report is not None:
                report(done, total if total != UINT64_MAX else None)  # type: ignore[arg-type]

        counts, skipped = _core.import_files(
            path, form, paths, list(options.items()), types, storages, on_bad == 'skip',
            boolean('append', append), boolean('resume', resume), durability, executor,
            dict(card or {}), advance)
    return ImportReport(**counts, skipped=skipped)


def _take_fields(fields: _Fields) -> Tuple[List[Tuple[str, str]],
                                           List[Tuple[Optional[str], str, int, int]]]:
    """Return the types of fields as text, and how the fields are stored."""
    types: List[Tuple[str, str]] = []
    storages: List[Tuple[Optional[str], str, int, int]] = []
    if fields is not None and not isinstance(fields, Mapping):
        raise TypeError(f'fields must be a dict, not {type(fields).__name__}')
    for name, field in (fields or {}).items():
        if not isinstance(name, str):
            raise TypeError(f'field names must be str, not {name!r}')
        if isinstance(field, Field):
            _, dtype, shape, compress, level, dictionary = field._describe(name)
            extents = ','.join('?' if extent is None else str(extent) for extent in shape)
            types.append((name, f'{dtype}[{extents}]' if shape else dtype))
            if compress != 'raw':
                storages.append((name, compress, level, dictionary))
        elif isinstance(field, str):
            types.append((name, field))
        else:
            raise TypeError(f'fields[{name!r}] must be a Field or a str, not {field!r}')
    return types, storages

# SPDX-License-Identifier: MIT
"""meta.json: section 4 of the format."""

import json
import re

from zrbase import U32, Corrupt, Unsupported, crc32c

FILE = "meta.json"
STAMP = re.compile(rb'\{"checksum": "([0-9a-f]{8})",')
BYTES_MAX = 16 << 20
LEVELS_MAX = 16
NUMBER_CHARACTERS_MAX = 64
AXES_MAX = 32
NUMBER_MAX = (1 << 63) - 1
ITEM_BYTES = {
    "bool": 1, "int8": 1, "int16": 2, "int32": 4, "int64": 8,
    "uint8": 1, "uint16": 2, "uint32": 4, "uint64": 8,
    "float16": 2, "float32": 4, "float64": 8, "complex64": 8, "complex128": 16,
    "bfloat16": 2, "float8_e4m3fn": 1, "float8_e5m2": 1,
    "float8_e4m3fnuz": 1, "float8_e5m2fnuz": 1, "float8_e8m0fnu": 1,
    **{f"datetime64[{unit}]": 8 for unit in ("D", "s", "ms", "us", "ns")},
}
BYTE_STRINGS = ("bytes", "str", "json", "image")
FEATURES = ("ragged", "parts")
PART = re.compile(r"(?=.{1,200}\Z)[A-Za-z0-9_-][A-Za-z0-9_.-]{0,63}"
                  r"(/[A-Za-z0-9_-][A-Za-z0-9_.-]{0,63}){0,7}")
CODECS = ("raw", "flate", "zstd")
LEVELS = {"flate": 9, "zstd": 22}
DICTIONARY_MAX = 1 << 24
NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,63}")
STEM = re.compile(r"([A-Za-z0-9_-][A-Za-z0-9_.-]{0,63})(?:~([1-9][0-9]{0,9}))?")
CARD_ENTRIES_MAX = 64
CARD_BYTES_MAX = 65536
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def damaged(what):
    """Return the error of a meta.json that is damaged."""
    return Corrupt(what, file=FILE)


# The text: section 4.1.

def _object(pairs):
    result = dict(pairs)
    if len(result) != len(pairs):
        raise damaged("an object has a key twice")
    return result


def _constant(name):
    raise damaged(f"{name} is no JSON")


def _real(text):
    # The library refuses longer numbers, and so does this reader.
    if len(text) > NUMBER_CHARACTERS_MAX:
        raise damaged(f"a number has more than {NUMBER_CHARACTERS_MAX} characters")
    return float(text)


def _integer(text):
    # Longer ones are out of range at every key, and slow to convert.
    if len(text) > 20:
        raise damaged("a number is outside -2^63 to 2^63-1")
    return int(text)


def _check_levels(value):
    level = [value]
    for depth in range(1, LEVELS_MAX + 2):
        level = [inner for inner in level if isinstance(inner, (dict, list))]
        if not level:
            return
        if depth > LEVELS_MAX:
            raise damaged(f"nested more than {LEVELS_MAX} levels deep")
        level = [below for inner in level
                 for below in (inner.values() if isinstance(inner, dict) else inner)]


def _parse_text(text):
    if len(text) > BYTES_MAX:
        raise damaged(f"longer than {BYTES_MAX} bytes")
    stamp = STAMP.match(text)
    if not stamp or int(stamp.group(1), 16) != crc32c(text[stamp.end():]):
        raise damaged("the checksum is absent or wrong")
    try:
        value = json.loads(text.decode("utf-8"), object_pairs_hook=_object,
                           parse_constant=_constant, parse_int=_integer,
                           parse_float=_real)
    except RecursionError as error:
        raise damaged(f"nested more than {LEVELS_MAX} levels deep") from error
    except ValueError as error:
        raise damaged(f"no JSON in UTF-8: {error}") from error
    _check_levels(value)
    if not isinstance(value, dict):
        raise damaged("the value is no object")
    return value


# Typed access to the values of the text.

def _get(source, key, kind, where):
    if key not in source:
        raise damaged(f"{where}{key} is missing")
    return _typed(source[key], kind, where + key)


def _typed(value, kind, where):
    # A bool is an int for Python, but not a number in JSON.
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise damaged(f"{where} is no {kind.__name__}")
    return value


def _ranged(value, low, high, where):
    if not low <= _typed(value, int, where) <= high:
        raise damaged(f"{where} is {value}, outside {low} to {high}")
    return value


def _number(source, key, where="", low=0, high=NUMBER_MAX):
    return _ranged(_get(source, key, int, where), low, high, where + key)


def _optional(source, key, where, default):
    return _number(source, key, where) if key in source else default


def _strings(source, key, where):
    return [_typed(one, str, f"{where}{key}[]") for one in _get(source, key, list, where)]


# The schema: section 4.4.

class Field:
    """One field of the schema.

    Attributes
    ----------
    id, name, stem, dtype, shape, compress, align
        As in meta.json; shape is a tuple, with None for an extent that varies.
    dictionary : tuple of (int, int) or None
        Size and CRC of the dictionary.
    size : int or None
        The bytes of each value of a dense field; None in other fields.
    stride : int
        In a ragged field, the bytes of a value at one index of the first axis; otherwise 1.
    """

    def __init__(self, source, where, next_field):
        _typed(source, dict, where)
        where += "."
        self.id = _number(source, "id", where, high=U32)
        if self.id >= next_field:
            raise damaged(f"{where}id {self.id} is not below next_field {next_field}")
        self.name = _get(source, "name", str, where)
        if not NAME.fullmatch(self.name):
            raise damaged(f"{where}name {self.name!r} has a wrong form")
        self.stem = _get(source, "stem", str, where)
        stem = STEM.fullmatch(self.stem)
        if not stem or int(stem.group(2) or 1) > U32:
            raise damaged(f"{where}stem {self.stem!r} has a wrong form")
        self.dtype = _get(source, "dtype", str, where)
        self.compress = _get(source, "compress", str, where)
        if self.dtype not in BYTE_STRINGS and self.dtype not in ITEM_BYTES:
            raise Unsupported(f"unknown dtype {self.dtype!r}", file=FILE, field=self.name)
        if self.compress not in CODECS:
            raise Unsupported(f"unknown compress {self.compress!r}", file=FILE, field=self.name)
        self.align = _number(source, "align", where, 1, 4096)
        if self.align & (self.align - 1):
            raise damaged(f"{where}align {self.align} is no power of two")
        self._read_shape(source, where)
        self._read_dictionary(source, where)
        self.complete = _typed(source.get("complete", False), bool, where + "complete")
        self.changes = _optional(source, "changes", where, 0)
        self.shared = self._read_shared(source, where + "shared.")

    def _read_shape(self, source, where):
        shape = _get(source, "shape", list, where)
        if len(shape) > (0 if self.dtype in BYTE_STRINGS else AXES_MAX):
            raise damaged(f"{where}shape has {len(shape)} axes")
        self.ragged = shape[:1] == [None]
        fixed = tuple(_ranged(n, 0, NUMBER_MAX, f"{where}shape") for n in shape[self.ragged:])
        self.shape = (None,) * self.ragged + fixed
        self.size, self.stride = ITEM_BYTES.get(self.dtype), 1
        if self.size is None:
            return
        for extent in fixed:
            self.size *= extent or 1
        if self.size > U32:
            raise damaged(f"{where}shape makes values of {self.size} bytes")
        if self.ragged and 0 in fixed:
            raise damaged(f"{where}shape does not determine the first extent")
        if 0 in fixed:
            self.size = 0
        if self.ragged:
            self.size, self.stride = None, self.size

    @staticmethod
    def _read_shared(source, where):
        if "shared" not in source:
            return None
        inner = _get(source, "shared", dict, "")
        return (_number(inner, "chunk", where, high=U32 - 1), _number(inner, "offset", where),
                _number(inner, "bytes", where, 1, U32))

    def _read_dictionary(self, source, where):
        if "dict" not in source:
            raise damaged(f"{where}dict is missing")
        self.dictionary = None
        for key, most in (("level", LEVELS.get(self.compress, 0)),
                          ("train", DICTIONARY_MAX if self.compress == "zstd" else 0)):
            if key in source:
                _number(source, key, where, 1, most)
        if source["dict"] is None:
            return
        if self.compress != "zstd":
            raise damaged(f"{where}dict is set with compress {self.compress}")
        inner = _get(source, "dict", dict, where)
        self.dictionary = (_number(inner, "bytes", where + "dict.", 1, DICTIONARY_MAX),
                           _number(inner, "crc", where + "dict.", high=U32))


class Meta:
    """The content of meta.json.

    Parameters
    ----------
    text : bytes
        The bytes of the file.
    """

    def __init__(self, text):
        source = _parse_text(text)
        self.features = self._check_version(source)
        self.generation = _number(source, "generation", high=1 << 62)
        uuid = _get(source, "uuid", str, "")
        if not UUID.fullmatch(uuid):
            raise damaged("uuid has a wrong form")
        self.uuid = bytes.fromhex(uuid.replace("-", ""))
        self.sealed = _get(source, "sealed", bool, "")
        self.length = _number(source, "length")
        self.changes = _optional(source, "changes", "", None)
        self._read_chunks(_get(source, "chunks", dict, ""))
        self.card = self._card(_typed(source.get("card", {}), dict, "card"))
        next_field = _number(source, "next_field", high=U32)
        fields = _get(source, "fields", list, "")
        if not fields:
            raise damaged("fields is empty")
        self.fields = [Field(one, f"fields[{k}]", next_field) for k, one in enumerate(fields)]
        if any(field.ragged for field in self.fields) and "ragged" not in self.features:
            raise damaged("a field is ragged, but features.must does not say so")
        for what in ("id", "name", "stem"):
            if len({getattr(field, what) for field in self.fields}) != len(self.fields):
                raise damaged(f"two fields have one {what}")
        self._read_parts(source)
        self.tables = None
        if self.sealed:
            tables = _get(source, "tables", dict, "")
            self.tables = {name: self._table(tables, name) for name in tables}

    def _read_parts(self, source):
        """Read where the chunks are that are in parts: section 4.10."""
        self.runs = []
        if ("parts" in source) != ("parts" in self.features):
            raise damaged("only one of parts and features.must says that there are parts")
        if "parts" not in source:
            return
        if not self.sealed:
            raise damaged("there are parts, but the dataset is not sealed")
        before = ""
        for part in _get(source, "parts", list, ""):
            path = _get(_typed(part, dict, "parts[]"), "path", str, "parts[].")
            if not PART.fullmatch(path) or path <= before:
                raise damaged(f"parts[].path {path!r} has a wrong form, or does not ascend")
            before = path
            self._read_runs(path, _get(part, "chunks", list, "parts[]."))
        if not self.runs:
            raise damaged("parts is empty")
        self.runs.sort()
        for one, next_one in zip(self.runs, self.runs[1:]):
            if one[0] + one[2] > next_one[0]:
                raise damaged(f"chunk {next_one[0]} is in two parts")

    def _read_runs(self, path, runs):
        least = 0
        for run in runs:
            if len(_typed(run, list, "parts[].chunks[]")) != 3:
                raise damaged("an element of parts[].chunks has not three numbers")
            first, there, count = (_ranged(number, low, U32 - 1 + low, "parts[].chunks[]")
                                   for number, low in zip(run, (0, 0, 1)))
            if first + count > U32 or there + count > U32 or there < least:
                raise damaged(f"parts[].chunks has {run}, beyond the last id or not ascending")
            least = there + count
            self.runs.append((first, there, count, path))
        if not runs:
            raise damaged(f"part {path} has no chunks")

    def chunk_path(self, chunk):
        """Return the path of a chunk within the dataset: section 7.1."""
        for first, there, count, path in self.runs:
            if first <= chunk < first + count:
                return f"{path}/chunk/{there + chunk - first}.zr"
        return f"chunk/{chunk}.zr"

    @staticmethod
    def _check_version(source):
        """Check version and features first: a newer format is unsupported, not damaged.

        Return the features that a reader has to know.
        """
        version = _get(source, "format", list, "")
        if len(version) != 2:
            raise damaged("format has not two numbers")
        for part in version:
            _ranged(part, 0, U32, "format")
        if version[0] != 1:
            raise Unsupported(f"format {version}", file=FILE)
        features = _get(source, "features", dict, "")
        known = _strings(features, "must", "features.")
        for feature in known:
            if feature not in FEATURES:
                raise Unsupported(f"unknown feature {feature!r}", file=FILE)
        _strings(features, "may", "features.")
        return known

    @staticmethod
    def _card(card):
        for key, text in card.items():
            if not NAME.fullmatch(key):
                raise damaged(f"the key {key!r} of card has a wrong form")
            if "\0" in _typed(text, str, f"card.{key}"):
                raise damaged(f"card.{key} contains U+0000")
        size = sum(len(part.encode()) for entry in card.items() for part in entry)
        if len(card) > CARD_ENTRIES_MAX or size > CARD_BYTES_MAX:
            raise damaged(f"card has {len(card)} entries of {size} bytes")
        return card

    def _read_chunks(self, chunks):
        self.chunks_num = _number(chunks, "num", "chunks.", high=U32)
        self.chunks_size = _number(chunks, "size", "chunks.", 1, U32)
        self.chunks_limit = _number(chunks, "limit", "chunks.", 1, 1 << 62)
        self.unfull = []
        for item in _get(chunks, "unfull", list, "chunks."):
            if len(_typed(item, list, "chunks.unfull[]")) != 3:
                raise damaged("an element of chunks.unfull has not three numbers")
            for part, high in zip(item, (U32, NUMBER_MAX, U32)):
                _ranged(part, 0, high, "chunks.unfull[]")
            if self.unfull and self.unfull[-1][0] >= item[0]:
                raise damaged("chunks.unfull does not ascend")
            self.unfull.append(tuple(item))

    @staticmethod
    def _table(tables, name):
        inner = _get(tables, name, dict, "tables.")
        where = f"tables.{name}."
        return (_number(inner, "bytes", where), _number(inner, "crc", where, high=U32))

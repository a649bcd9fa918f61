# SPDX-License-Identifier: MIT
"""Tokenizes texts and writes the tokens to files."""

from __future__ import annotations

import os
import time
from typing import Any, Dict, List, Optional, Sequence, Union

from .. import _core
from .._check import natural
from .._paths import is_dataset
from .._progress import Progress, reporting
from ..errors import LoaderxError
from ._files import Files
from ._inputs import Input, blocks_of, open_input
from ._outputs import FORMATS, Output, choose_dtype, choose_output
from ._pool import Pool, Setup
from ._tokenizer import choose_errors, load, token_id, vocabulary

__all__ = ['write_tokens']


def write_tokens(inputs: Any, output: Any, tokenizer: Any, *, field: Optional[str] = None,
                 key: Optional[str] = None, lines: bool = False, split_at: Optional[str] = None,
                 whole: bool = False, eos: Union[int, str, None] = None,
                 special_tokens: bool = False, errors: str = 'strict',
                 format: Optional[str] = None, dtype: Any = None, replace: bool = False,
                 processes: Optional[int] = None, progress: Progress = True) -> Dict[str, Any]:
    """Tokenize texts and write the tokens to files, for `loaderx.Tokens` and other programs.

    Documents are written in the order of the inputs, regardless of the number of processes. Texts
    without tokens are skipped. The files appear once all of them are complete; if an error occurs,
    no files appear.

    Memory is used only for the texts in progress: about 2 MiB of text per process, plus twice the
    size of the longest document.

    Parameters
    ----------
    inputs : path, or a sequence of paths
        A directory is a dataset. Files compressed with gzip, zstd (by Python 3.14 or pyarrow), xz
        or bzip2 are decompressed; pyarrow reads Parquet and Arrow files. By default, a file contains
        JSON lines if its name ends with .jsonl or .ndjson, or if its first lines are JSON objects,
        and any other file is one document. A file whose name ends with .json and that is one
        document of JSON is an error.
    output : path-like
        The path of the output file, or of one of the output files.
    tokenizer : path, tokenizers.Tokenizer, or fast tokenizer of transformers
        The tokenizer, or the path of a ``tokenizer.json`` or of the directory that contains it. The
        tokenizer's truncation and padding settings are ignored.
    field : str, optional
        The str or bytes field of the datasets; by default, the only one. Also the column of
        Parquet and Arrow files; by default, `key`, ``'text'`` or the only one.
    key : str, optional
        The key of the text in each JSON line, which is an object; by default, ``'text'``.
    lines : bool, optional
        Whether each line of a file is a document.
    split_at : str, optional
        The line that separates documents in a file; ``''`` stands for an empty line.
    whole : bool, optional
        Whether each file is one document, even if it contains JSON, whose syntax is then text.
    eos : int or str, optional
        A token to insert after each document, given by ID or by name.
    special_tokens : bool, optional
        Whether to add the special tokens of the tokenizer's post-processor to each text.
    errors : {'strict', 'replace'}, optional
        What to do with bytes that are not UTF-8: raise CorruptError, or replace them with U+FFFD.
    format : {'megatron', 'ds', 'npy', 'flat'}, optional
        By default, the suffix of `output` determines the format: .bin or .idx for Megatron's two
        files, .ds for the files of Nanotron and datatrove, .npy for an array. 'flat' stands for raw
        tokens. 'npy' and 'flat' do not store the ends of documents, so set `eos`.
    dtype : dtype or str, optional
        uint16 or uint32 (uint16 or int32 for Megatron, which has no uint32); by default, the
        smallest dtype that fits the vocabulary.
    replace : bool, optional
        Whether to replace existing files.
    processes : int, optional
        The number of processes; by default, one for each CPU that this process may use. 0: this
        process tokenizes, with the tokenizer's threads.
    progress : bool or callable, optional
        True shows a bar on a terminal or in a notebook, if tqdm is installed. If a function is
        passed, it is called with the number of bytes of text processed so far and the total, which
        is None if unknown.

    Returns
    -------
    dict
        The numbers of ``documents``, of ``tokens``, of skipped texts (``empty``) and of ``bytes``
        of text; the ``dtype``, the size of the ``vocabulary``, the token ``eos``, the ``format``,
        the ``files`` and the time in ``seconds``.

    Raises
    ------
    CorruptError
        A text is not UTF-8, a line is not a JSON object with the key, or a file contains no text or
        is damaged; the error contains the location.
    FileExistsError
        An output file exists, and `replace` is False.
    ImportError
        An input needs pyarrow, which is not installed.
    LoaderxError
        The tokenizer file is invalid, or the inputs contain no text.
    """
    began = time.monotonic()
    made = load(tokenizer)
    size, end = vocabulary(made), token_id(made, 'eos', eos)
    format_name = choose_output(output, format)
    kind = choose_dtype(format_name, dtype, size)
    if processes is None:
        processes = _core.Executor().readers
    setup = Setup(made.to_str(), end, special_tokens, choose_errors(errors), kind.name)
    name = 'tokenizer' if not isinstance(tokenizer, (str, os.PathLike)) else os.fspath(tokenizer)
    out = FORMATS[format_name](os.fsdecode(output), kind, name)
    opened = _open_all(inputs, field, key, lines, split_at, whole)
    out.files = Files(out.paths(), replace)
    with reporting(progress, 'tokenize', 'B') as report_progress, out.files, \
            Pool(setup, natural('processes', processes, maximum=1024)) as pool:
        report = _write(opened, out, pool, report_progress)
    return {**report, 'dtype': kind.name, 'vocabulary': size, 'eos': end, 'format': format_name,
            'files': sorted(out.paths()), 'seconds': time.monotonic() - began}


def _open_all(inputs: Any, field: Optional[str], key: Optional[str], lines: bool,
              split_at: Optional[str], whole: bool) -> List[Input]:
    single = isinstance(inputs, (str, bytes, os.PathLike))
    paths: Sequence[Any] = (inputs,) if single else tuple(inputs)
    if not paths:
        raise ValueError('inputs is empty: there is nothing to tokenize')
    chosen = {'key': key is not None, 'lines': bool(lines), 'split_at': split_at is not None,
              'whole': bool(whole)}
    given = [name for name, value in chosen.items() if value]
    if len(given) > 1:
        raise ValueError(f'{given[0]} and {given[1]} are mutually exclusive')
    if given and all(map(is_dataset, paths)):
        raise ValueError(f'{given[0]} must not be given if all inputs are datasets')
    return [open_input(path, field, key, lines, split_at, whole) for path in paths]


def _write(inputs: List[Input], out: Output, pool: Pool, report_progress: Any) -> Dict[str, int]:
    sizes = [one.size for one in inputs]
    total = None if None in sizes else sum(size or 0 for size in sizes)
    done = empty = 0
    out.begin()
    for block, (tokens, lengths) in pool.map(blocks_of(inputs)):
        nonempty = lengths[lengths != 0]
        out.write(tokens, nonempty)
        empty += len(lengths) - len(nonempty)
        done += sum(len(text.data) for text in block.texts)
        if report_progress is not None:
            report_progress(done, total)
    if out.tokens == 0:
        raise LoaderxError('the inputs have no text: there is nothing to write')
    out.finish()
    return {'documents': out.documents, 'tokens': out.tokens, 'empty': empty, 'bytes': done}

# SPDX-License-Identifier: MIT
"""Texts made files of tokens."""

from __future__ import annotations

import os
import time
from typing import Any, Dict, List, Optional, Sequence, Union

from .. import _core
from .._check import natural
from .._progress import Progress, telling
from ..errors import LoaderxError
from ._files import Files
from ._inputs import Input, blocks_of, open_input
from ._outputs import FORMATS, Output, choose_dtype, choose_output
from ._pool import Pool, Setup
from ._tokenizer import choose_errors, load, token_id, vocabulary

__all__ = ['write_tokens']


def write_tokens(inputs: Any, output: Any, tokenizer: Any, *, field: Optional[str] = None,
                 key: Optional[str] = None, lines: bool = False, split_at: Optional[str] = None,
                 eos: Union[int, str, None] = None, special_tokens: bool = False,
                 errors: str = 'strict', format: Optional[str] = None, dtype: Any = None,
                 replace: bool = False, processes: Optional[int] = None,
                 progress: Progress = True) -> Dict[str, Any]:
    """Write the tokens of texts to files, which `loaderx.Tokens` opens, and others.

    The documents are in the order of the inputs, whatever the number of processes. A text that has
    no tokens is left out. The files are in their places when all of them are whole; after an error
    there are none.

    Memory is bounded by what is tokenized at a time, about 2 MiB of text for each process, and
    twice the longest document.

    Parameters
    ----------
    inputs : path, or a sequence of paths
        A folder is a dataset. A file whose name ends with .jsonl or .ndjson has lines of JSON, and
        any other is one document, if it is not said otherwise. A file whose name ends with .gz is
        inflated.
    output : path-like
        The file, or one of them.
    tokenizer : path, tokenizers.Tokenizer, or fast tokenizer of transformers
        A path is that of a ``tokenizer.json``, or of the folder that it is in. What it has of
        truncation and padding is left out.
    field : str, optional
        Of the datasets: a field of bytes. It need not be given where there is one of these.
    key : str, optional
        Files have lines of JSON, objects with the text at this key; ``'text'`` by default.
    lines : bool, optional
        Each line of a file is a document.
    split_at : str, optional
        What the lines are between documents in a file; ``''`` for empty lines.
    eos : int or str, optional
        A token that is put behind each document, by number or by name.
    special_tokens : bool, optional
        Whether the tokens are added that the tokenizer's post-processor puts around a text.
    errors : {'strict', 'replace'}, optional
        What is done about bytes that are not UTF-8: CorruptError, or U+FFFD in their place.
    format : {'megatron', 'ds', 'npy', 'flat'}, optional
        By default that of the output's name: .bin or .idx are Megatron's two files, .ds those of
        Nanotron and datatrove, .npy an array. 'flat' is bare tokens. The last two do not tell
        where documents end: give an `eos`.
    dtype : dtype or str, optional
        uint16 or uint32 (int32 of Megatron's, which have no uint32); by default the narrow one
        where the vocabulary fits.
    replace : bool, optional
        Whether files that are there are replaced.
    processes : int, optional
        How many tokenize; by default one for each CPU that this process may use. 0: this one does,
        on the tokenizer's own threads.
    progress : bool or callable, optional
        True shows a bar where stderr is a terminal and tqdm is installed. A function is called with
        the bytes of text done, and of all, or None where that is not known.

    Returns
    -------
    dict
        ``documents``, ``tokens``, texts that were left out as ``empty``, ``bytes`` of text, the
        ``dtype``, the ``vocabulary``, ``eos``, the ``format``, ``files`` and ``seconds``.

    Raises
    ------
    CorruptError
        A text is not UTF-8, or a line no JSON, or no object with that key. It tells where.
    FileExistsError
        An output is there.
    LoaderxError
        The tokenizer's file is none, or there is no text.
    """
    began = time.monotonic()
    made = load(tokenizer)
    size, end = vocabulary(made), token_id(made, 'eos', eos)
    form = choose_output(output, format)
    kind = choose_dtype(form, dtype, size)
    if processes is None:
        processes = _core.Executor().readers
    setup = Setup(made.to_str(), end, special_tokens, choose_errors(errors), kind.name)
    name = 'tokenizer' if not isinstance(tokenizer, (str, os.PathLike)) else os.fspath(tokenizer)
    out = FORMATS[form](os.fsdecode(output), kind, name)
    opened = _open_all(inputs, field, key, lines, split_at)
    out.files = Files(out.paths(), replace)
    with telling(progress, 'tokenize', 'B') as told, out.files, \
            Pool(setup, natural('processes', processes, most=1024)) as pool:
        report = _write(opened, out, pool, told)
    return {**report, 'dtype': kind.name, 'vocabulary': size, 'eos': end, 'format': form,
            'files': sorted(out.paths()), 'seconds': time.monotonic() - began}


def _open_all(inputs: Any, field: Optional[str], key: Optional[str], lines: bool,
              split_at: Optional[str]) -> List[Input]:
    single = isinstance(inputs, (str, bytes, os.PathLike))
    paths: Sequence[Any] = (inputs,) if single else tuple(inputs)
    if not paths:
        raise ValueError('inputs is empty: there is nothing to tokenize')
    chosen = {'key': key is not None, 'lines': bool(lines), 'split_at': split_at is not None}
    given = [name for name, there in chosen.items() if there]
    if len(given) > 1:
        raise ValueError(f'{given[0]} and {given[1]} exclude each other')
    if given and all(map(os.path.isdir, paths)):
        raise ValueError(f'{given[0]} is for files, and there are only datasets: leave it out')
    return [open_input(path, field, key, lines, split_at) for path in paths]


def _write(inputs: List[Input], out: Output, pool: Pool, told: Any) -> Dict[str, int]:
    sizes = [one.size for one in inputs]
    total = None if None in sizes else sum(size or 0 for size in sizes)
    done = empty = 0
    out.begin()
    for block, (tokens, lengths) in pool.map(blocks_of(inputs)):
        there = lengths[lengths != 0]
        out.write(tokens, there)
        empty += len(lengths) - len(there)
        done += sum(len(text.data) for text in block.texts)
        if told is not None:
            told(done, total)
    if out.tokens == 0:
        raise LoaderxError('the inputs have no text: there is nothing to write')
    out.finish()
    return {'documents': out.documents, 'tokens': out.tokens, 'empty': empty, 'bytes': done}

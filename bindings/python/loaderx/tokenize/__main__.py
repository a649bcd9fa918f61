# SPDX-License-Identifier: MIT
"""``python -m loaderx.tokenize``: tokenize texts and write the tokens to files."""

from __future__ import annotations

import argparse
import json
import signal
import sys
from typing import Any, Dict, List, NoReturn, Optional

from ..errors import LoaderxError
from ._outputs import FORMATS
from ._tokenizer import ERRORS
from ._writing import write_tokens

_EXAMPLES = """\
examples:
  python -m loaderx.tokenize --tokenizer tokenizer.json --eos '<|endoftext|>' -o corpus.bin *.jsonl
      Megatron's corpus.bin and corpus.idx, from JSON lines with the key "text"
  python -m loaderx.tokenize --tokenizer tokenizer.json -o wiki.ds --lines wiki.txt.gz
      Nanotron's wiki.ds, wiki.ds.index and wiki.ds.metadata, with one document per line
  python -m loaderx.tokenize --tokenizer tokenizer.json -o texts.npy --field caption pairs
      an array, from a field of the dataset in the directory pairs

A directory is a dataset, and a file whose first lines are JSON objects, or whose name ends with
.jsonl or .ndjson, contains JSON lines; any other file is one document. Files compressed with gzip,
zstd, xz or bzip2 are decompressed, and pyarrow reads Parquet and Arrow files. Either all output
files are created, or none. Exit status: 0 success, 1 invalid input or a system error, 2 invalid
arguments."""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog='python -m loaderx.tokenize',
        description='Tokenize texts, and write the tokens to files.',
        epilog=_EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)
    add = parser.add_argument
    add('inputs', nargs='+', metavar='INPUT', help='a text file or a dataset')
    add('--tokenizer', required=True, metavar='FILE',
        help='a tokenizer.json of the tokenizers library, or its directory')
    add('-o', '--output', required=True, metavar='FILE', help='x.bin, x.ds, x.npy, or another name')
    kinds = parser.add_mutually_exclusive_group()
    kinds.add_argument('--key', help='files contain JSON lines, with the text under this key')
    kinds.add_argument('--lines', action='store_true', help='each line of a file is a document')
    kinds.add_argument('--split-at', metavar='LINE',
                       help="documents are separated by this line; '' is an empty line")
    kinds.add_argument('--whole', action='store_true',
                       help='each file is one document, even if it contains JSON')
    add('--field', help='the field of a dataset, or column of a Parquet file, with the texts')
    add('--eos', '--append-eod', metavar='TOKEN',
        help='insert this token, given by name or ID, after each document')
    add('--special-tokens', action='store_true',
        help="add the special tokens of the tokenizer's post-processor")
    add('--errors', choices=ERRORS, default='strict',
        help="for bytes that are not UTF-8: 'strict' fails (default), 'replace' inserts U+FFFD")
    add('--format', choices=list(FORMATS), help="default: determined by the output's name")
    add('--dtype', choices=('uint16', 'uint32', 'int32'),
        help='dtype of a token; default: uint16 if the vocabulary fits')
    add('--processes', type=int, metavar='N',
        help="number of processes; default: one for each CPU; 0: use the tokenizer's threads")
    add('--replace', action='store_true', help='replace existing files')
    add('--json', action='store_true', help='print the report as JSON')
    return parser


def _print_report(report: Dict[str, Any], as_json: bool) -> None:
    speed = report['tokens'] / max(report['seconds'], 1e-9)
    if as_json:
        print(json.dumps({**report, 'tokens_per_second': round(speed)}))
        return
    empty = f", {report['empty']:,} texts without tokens" if report['empty'] else ''
    print(f"{', '.join(report['files'])}: {report['tokens']:,} tokens of {report['dtype']} in "
          f"{report['documents']:,} documents{empty}; {report['seconds']:.1f} s, "
          f'{speed / 1e6:.2f} M tokens/s')


def _stop(number: int, frame: Any) -> NoReturn:
    raise SystemExit(128 + number)


def main(arguments: Optional[List[str]] = None) -> int:
    """Run the command and return the exit status."""
    options = vars(_parser().parse_args(arguments))
    as_json = options.pop('json')
    for number in signal.SIGTERM, signal.SIGHUP:    # let write_tokens remove incomplete files
        if signal.getsignal(number) != signal.SIG_IGN:    # ignored signals stay ignored (nohup)
            signal.signal(number, _stop)
    try:
        report = write_tokens(options.pop('inputs'), options.pop('output'),
                              options.pop('tokenizer'), **options)
        _print_report(report, as_json)
        return 0
    except (ValueError, TypeError, ImportError) as error:
        status, message = 2, str(error)
    except OSError as error:
        where = f'{error.filename}: ' if error.filename is not None else ''
        status, message = 1, f'{where}{error.strerror or error}'
    except (LoaderxError, MemoryError) as error:
        status, message = 1, str(error) or 'out of memory'
    except KeyboardInterrupt:
        status, message = 130, 'interrupted; nothing was written'
    print(f'loaderx.tokenize: {message}', file=sys.stderr)
    return status


if __name__ == '__main__':
    sys.exit(main())

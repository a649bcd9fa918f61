# SPDX-License-Identifier: MIT
"""``python -m loaderx.tokenize``: tokenize texts to files."""

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
      Megatron's corpus.bin and corpus.idx, of lines of JSON with the key "text"
  python -m loaderx.tokenize --tokenizer tokenizer.json -o wiki.ds --lines wiki.txt.gz
      wiki.ds, wiki.ds.index and wiki.ds.metadata as Nanotron reads them, a document a line
  python -m loaderx.tokenize --tokenizer tokenizer.json -o texts.npy --field caption pairs
      an array, of a field of the dataset in the folder pairs

An input whose name ends with .jsonl or .ndjson has lines of JSON; a folder is a dataset; any other
file is one document. The files are there when they are whole, or not at all. Exit status: 0 done,
1 an input or the system is at fault, 2 the call is."""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog='python -m loaderx.tokenize', description='Make files of tokens of texts.',
        epilog=_EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)
    add = parser.add_argument
    add('inputs', nargs='+', metavar='INPUT', help='a file of text, or a dataset')
    add('--tokenizer', required=True, metavar='FILE',
        help='a tokenizer.json of the library tokenizers, or the folder that it is in')
    add('-o', '--output', required=True, metavar='FILE', help='x.bin, x.ds, x.npy, or any name')
    kinds = parser.add_mutually_exclusive_group()
    kinds.add_argument('--key', help='files have lines of JSON, with the text at this key')
    kinds.add_argument('--lines', action='store_true', help='each line of a file is a document')
    kinds.add_argument('--split-at', metavar='LINE',
                       help="documents are divided by lines that are this; '' is an empty line")
    add('--field', help='of a dataset, that has the texts')
    add('--eos', '--append-eod', metavar='TOKEN',
        help='insert this token, a name or a number, after each document')
    add('--special-tokens', action='store_true',
        help="add the tokens that the tokenizer's post-processor puts around a text")
    add('--errors', choices=ERRORS, default='strict',
        help="bytes that are not UTF-8: 'strict' stops (default), 'replace' inserts U+FFFD")
    add('--format', choices=list(FORMATS), help="by default by the output's name")
    add('--dtype', choices=('uint16', 'uint32', 'int32'),
        help='of a token; by default uint16 where the vocabulary fits')
    add('--processes', type=int, metavar='N',
        help="how many tokenize; by default one for each CPU; 0: the tokenizer's own threads")
    add('--replace', action='store_true', help='replace files that are there')
    add('--json', action='store_true', help='report in JSON')
    return parser


def _print_report(report: Dict[str, Any], as_json: bool) -> None:
    speed = report['tokens'] / max(report['seconds'], 1e-9)
    if as_json:
        print(json.dumps({**report, 'tokens_per_second': round(speed)}))
        return
    empty = f", {report['empty']:,} texts without any" if report['empty'] else ''
    print(f"{', '.join(report['files'])}: {report['tokens']:,} tokens of {report['dtype']} in "
          f"{report['documents']:,} documents{empty}; {report['seconds']:.1f} s, "
          f'{speed / 1e6:.2f} M tokens/s')


def _stop(number: int, frame: Any) -> NoReturn:
    raise SystemExit(128 + number)


def main(arguments: Optional[List[str]] = None) -> int:
    """Run the command; return the exit status."""
    given = vars(_parser().parse_args(arguments))
    as_json = given.pop('json')
    for number in signal.SIGTERM, signal.SIGHUP:    # remove incomplete files
        if signal.getsignal(number) != signal.SIG_IGN:    # nohup ignores it
            signal.signal(number, _stop)
    try:
        report = write_tokens(given.pop('inputs'), given.pop('output'), given.pop('tokenizer'),
                              **given)
        _print_report(report, as_json)
        return 0
    except (ValueError, TypeError, ImportError) as error:
        status, message = 2, str(error)
    except OSError as error:
        where = f'{error.filename}: ' if error.filename is not None else ''
        status, message = 1, f'{where}{error.strerror or error}'
    except (LoaderxError, MemoryError) as error:
        status, message = 1, str(error) or 'memory ran out'
    except KeyboardInterrupt:
        status, message = 130, 'interrupted; nothing was written'
    print(f'loaderx.tokenize: {message}', file=sys.stderr)
    return status


if __name__ == '__main__':
    sys.exit(main())

# SPDX-License-Identifier: MIT
"""Runs the code of a Markdown page in an empty folder, as a reader would.

    run_page.py PAGE

Blocks run in their order:

- ``python`` runs; all blocks of a page share their names. A ``text`` block after it is its output.
- ``python NAME`` and ``c NAME`` are written to the file NAME.
- ``console`` has shell commands after ``$``, and their output.

In outputs, ``...`` stands for anything. These comments, which readers do not see, change that:

- ``<!-- needs: NAME ... -->``: the page is skipped (status 77) unless these Python packages exist;
- ``<!-- not run: REASON -->``: the next block does not run. Every block of another kind needs it;
- ``<!-- numbers vary -->``: in the outputs of the next block, any number stands for any other;
- ``<!-- hidden`` starts Python code that runs, but is not shown, up to ``-->``.
"""

import contextlib
import doctest
import importlib.util
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

TIMEOUT = 240    # seconds for a command
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
PART = re.compile(
    r'^<!-- (?P<comment>needs|not run|numbers vary)(?:: (?P<value>.*?))? -->$'
    r'|^<!-- hidden\n(?P<hidden>.*?)^-->$'
    r'|^```(?P<kind>\w*)(?: (?P<name>\S+))?\n(?P<text>.*?)^```$', re.MULTILINE | re.DOTALL)


class Failure(Exception):
    """A block that does not run, or has another output."""


def compare(expected, got, numbers_vary=False):
    if numbers_vary:
        expected, got = (re.sub(r'[\d.,]*\d', '#', text) for text in (expected, got))
    if not doctest.OutputChecker().check_output(expected, got, FLAGS):
        raise Failure(f'expected:\n{expected}got:\n{got}')


def run_python(text, place, names):
    """Runs a block; returns what it prints. Its lines have the numbers that they have in the page."""
    page, line = place
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile('\n' * line + text, page, 'exec'), names)
    return printed.getvalue()


def run_console(text, numbers_vary):
    """Runs each command, which may continue on lines that begin with '> '."""
    commands = re.findall(r'^\$ (.*\n(?:> .*\n)*)((?:(?!\$ ).*\n)*)', text, re.MULTILINE)
    if not commands:
        raise Failure('no command begins with $')
    for command, expected in commands:
        done = subprocess.run(['sh', '-ec', command.replace('\n> ', '\n')], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True,
                              timeout=TIMEOUT)
        if done.returncode != 0:
            raise Failure(f'$ {command}failed with {done.returncode}:\n{done.stdout}')
        compare(expected, done.stdout, numbers_vary)


def run_block(block, place, names, numbers_vary):
    """Runs a block; returns the output that a following block of text must have, or None."""
    kind, name, text = block['kind'], block['name'], block['text']
    if block['hidden']:
        run_python(block['hidden'], place, names)
    elif name and kind in ('python', 'c'):
        Path(name).write_text(text)
    elif kind == 'python':
        return run_python(text, place, names)
    elif kind == 'console':
        run_console(text, numbers_vary)
    else:
        raise Failure(f'a block of kind {kind!r} needs a comment that says why it does not run')
    return None


def use_this_python(folder):
    """Makes python3 in a console this interpreter, whose packages are tested, and finds the programs
    of those, such as torchrun, beside it."""
    command = Path(folder, 'python3')
    command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n')
    command.chmod(0o755)
    beside = os.path.dirname(sys.executable)
    os.environ['PATH'] = f'{folder}:{beside}:{os.environ["PATH"]}'


def missing_packages(page):
    needed = ' '.join(re.findall(r'^<!-- needs: (.*) -->$', page, re.MULTILINE)).split()
    return [name for name in needed if importlib.util.find_spec(name) is None]


def run_page(path):
    """Runs all blocks; returns how many ran, and the reasons why others did not."""
    page = path.read_text(encoding='utf-8')
    names = {'__name__': '__main__', 'page': str(path)}
    ran, reasons, reason, output, numbers_vary = 0, [], None, None, False
    fences = sum(block['kind'] is not None for block in PART.finditer(page))
    if len(re.findall(r'^ *```', page, re.MULTILINE)) != 2 * fences:
        raise Failure('a block is indented, or has no end')
    for block in PART.finditer(page):
        line = page.count('\n', 0, block.start()) + 1
        if block['comment']:
            reason = block['value'] if block['comment'] == 'not run' else reason
            numbers_vary |= block['comment'] == 'numbers vary'
            continue
        try:
            if reason is not None:
                reasons.append(reason)
            elif block['kind'] == 'text' and output is not None:
                compare(block['text'], output)
                output = None
            else:
                output = run_block(block, (str(path), line), names, numbers_vary)
                ran += 1
        except BaseException:
            print(f'{path}:{line}: this block fails:', file=sys.stderr)
            raise
        reason, numbers_vary = None, False
    return ran, reasons


def main():
    path = Path(sys.argv[1]).resolve()
    missing = missing_packages(path.read_text(encoding='utf-8'))
    if missing:
        print(f'SKIP: {path.name}: not installed: {", ".join(missing)}')
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as commands:
        os.chdir(folder)
        use_this_python(commands)
        try:
            ran, reasons = run_page(path)
        except Failure as failure:
            sys.exit(str(failure))
        finally:
            os.chdir('/')
    print(f'PASS: {path.name}: {ran} blocks ran'
          + ''.join(f'; not run: {reason}' for reason in reasons))


if __name__ == '__main__':
    main()

# SPDX-License-Identifier: MIT
"""A few steps of doc/examples/language-model on generated text, killed and resumed."""

import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

pytest.importorskip('torch', reason='torch is not installed')
tokenizing = pytest.importorskip('tokenizing', reason='the tokenizers library is not installed')

from loaderx.tokenize import write_tokens

TOP = pathlib.Path(os.environ.get('top_srcdir', pathlib.Path(__file__).resolve().parents[3]))
RUN = TOP / 'doc' / 'examples' / 'language-model' / 'run.py'


@pytest.fixture
def work(tmp_path):
    if not RUN.exists():
        pytest.skip('examples not found: set top_srcdir')
    tokenizing.train().save(str(tmp_path / 'tokenizer.json'))
    texts = ''.join(json.dumps({'text': text}) + '\n' for text in tokenizing.make_texts(2000, 7))
    (tmp_path / 'texts.jsonl').write_text(texts)
    write_tokens([tmp_path / 'texts.jsonl'], tmp_path / 'corpus.bin', tmp_path / 'tokenizer.json',
                 eos=tokenizing.END)
    return tmp_path


def test_a_killed_run_continues_exactly(work):
    done = subprocess.run(
        [sys.executable, '-B', RUN, work, '--steps', '6', '--checkpoint-steps', '2',
         '--vocabulary', '600', '--resume-worlds', '2', '1'],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
    assert done.returncode == 0, done.stdout
    lines = {line.split()[0]: line for line in done.stdout.split('\n\n')[1].splitlines()[1:]}
    assert list(lines) == ['never-stopped', 'killed', 'resumed-on-2', 'resumed-on-1']
    same = ['3 to 6', 'the same', 'the same to the bit', 'the same']
    assert re.split(' {2,}', lines['resumed-on-2'])[2:] == same
    curves = json.loads((work / 'curves.json').read_text())
    assert [step for step, _ in curves['resumed-on-1'][1]] == [3, 4, 5, 6]

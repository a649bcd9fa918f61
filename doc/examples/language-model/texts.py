# SPDX-License-Identifier: MIT
"""Real text from installed Debian packages, and a BPE tokenizer trained on it."""

import gzip
import json
import os
import re
import subprocess
import sys

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

END = '<|endoftext|>'
TRAIN_EVERY = 10  # the BPE is trained on one of this many documents


class Missing(Exception):
    """A required package is not installed."""


def files_of(package):
    """Return the installed files of a package, and of the packages that a metapackage depends
    on."""
    def ask(*command):
        return subprocess.run(command, check=True, universal_newlines=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout

    try:
        depends = ask('dpkg-query', '-W', '-f', '${Depends}', package)
        real = re.findall(re.escape(package) + r'-[0-9.]+', depends)
        return ask('dpkg', '-L', package, *real).split('\n')
    except (OSError, subprocess.CalledProcessError):
        raise Missing(f'there is no text: install Debian\'s {", ".join(PACKAGES)}') from None


def read(path):
    opened = gzip.open if path.endswith(('.gz', '.dz')) else open
    with opened(path, 'rt', encoding='utf-8', errors='replace') as file:
        return file.read()


def linux_doc(paths):
    """Pages of the kernel's documentation."""
    for path in paths:
        if re.search(r'/Documentation/.*\.rst(\.gz)?$', path):
            yield read(path)


def gcide(paths):
    """Entries of a dictionary of English."""
    for path in paths:
        if path.endswith('.dict.dz'):
            yield from re.split(r'\n\n(?=\S)', read(path))


def wordnet(paths):
    """Synonyms and their definitions."""
    for path in paths:
        if not re.search(r'/data\.\w+$', path):
            continue
        for line in read(path).split('\n'):
            head, bar, meaning = line.partition(' | ')
            if bar and not line.startswith(' '):    # the licence
                parts = head.split()
                words = parts[4:4 + 2 * int(parts[3], 16):2]
                yield f'{", ".join(words).replace("_", " ")}: {meaning.strip()}'


PACKAGES = {'linux-doc': linux_doc, 'dict-gcide': gcide, 'wordnet-base': wordnet}


def write_texts(path):
    """Write all documents as lines of JSON."""
    found = {package: files_of(package) for package in PACKAGES}
    with open(path, 'w') as file:
        for package, documents in PACKAGES.items():
            count = size = 0
            for text in documents(found[package]):
                file.write(json.dumps({'text': text}) + '\n')
                count, size = count + 1, size + len(text)
            if not count:
                raise Missing(f'the package {package} has none of the files that were looked for: '
                              'dpkg may have excluded /usr/share/doc; reinstall it without that')
            print(f'{package}: {count:,} documents, {size / 1e6:.1f} M characters', flush=True)


def train_bpe(texts, path, vocabulary):
    """Train a BPE on some of the texts, and write its tokenizer.json."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=vocabulary, special_tokens=[END], show_progress=False,
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    with open(texts) as file:
        some = (json.loads(line)['text'] for number, line in enumerate(file)
                if number % TRAIN_EVERY == 0)
        tokenizer.train_from_iterator(some, trainer)
    tokenizer.save(path)


def prepare(work, vocabulary):
    """Make the texts, the tokenizer and the tokens in a folder, unless they exist."""
    texts, tokenizer, tokens = (os.path.join(work, name) for name in
                                ('corpus.jsonl', 'tokenizer.json', 'corpus.bin'))
    if os.path.exists(tokens):
        return
    write_texts(texts)
    train_bpe(texts, tokenizer, vocabulary)
    made = subprocess.run([sys.executable, '-m', 'loaderx.tokenize', '--tokenizer', tokenizer,
                           '--eos', END, '-o', tokens, texts])
    if made.returncode:
        raise SystemExit(f'language-model: there are no tokens of {texts}')

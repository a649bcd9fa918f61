# SPDX-License-Identifier: MIT
"""A tokenizer trained on generated text, texts, and simple readers of token files."""

import struct

import numpy as np
import pytest

tokenizers = pytest.importorskip('tokenizers', reason='the tokenizers library is not installed')

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

END = '<|endoftext|>'
_SYLLABLES = [a + b for a in 'b d k l m n r s t v'.split() for b in 'a e i o u'.split()]


def make_texts(count, seed, most=60):
    """Make texts of generated words: some long, some empty, some with letters of other scripts."""
    random = np.random.default_rng(seed)
    words = [''.join(random.choice(_SYLLABLES, random.integers(1, 4))) for _ in range(300)]
    words += ['naïve', '東京', 'Привет', '🙂', '12345', '\n']
    made = []
    for _ in range(count):
        length = int(random.integers(0, most)) * (20 if random.random() < .05 else 1)
        made.append(' '.join(random.choice(words, length)))
    return made


def train(size=600):
    """Train a byte-level BPE of at most `size` tokens; token 0 is the end of a text."""
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    made.train_from_iterator(make_texts(200, 1), trainers.BpeTrainer(
        vocab_size=size, special_tokens=[END], initial_alphabet=alphabet, show_progress=False))
    return made


def with_template(tokenizer, number):
    """Return the tokenizer with a token of any number before each text."""
    made = Tokenizer.from_str(tokenizer.to_str())
    made.post_processor = processors.TemplateProcessing(single='<s> $A',
                                                        special_tokens=[('<s>', number)])
    return made


def wide():
    """Return a tokenizer whose words are numbers, up to 70000."""
    return Tokenizer(models.WordLevel({str(i): i for i in range(70001)}, unk_token='0'))


def ids_of(tokenizer, texts, end=()):
    """Return the tokens of each non-empty text, tokenized one by one."""
    made = [tokenizer.encode(text, add_special_tokens=False).ids for text in texts]
    return [ids + list(end) for ids in made if ids]


def read_megatron(stem):
    """Return the documents as Megatron's reader finds them: by the offsets of the index."""
    index = (stem.parent / f'{stem.name}.idx').read_bytes()
    data = (stem.parent / f'{stem.name}.bin').read_bytes()
    magic, version, code, sequences, documents = struct.unpack_from('<9sQBQQ', index)
    assert (magic, version, documents) == (b'MMIDIDX\0\0', 1, sequences + 1)
    dtype = {8: '<u2', 4: '<i4'}[code]
    lengths = np.frombuffer(index, '<i4', sequences, 34)
    places = np.frombuffer(index, '<i8', sequences, 34 + 4 * sequences)
    numbers = np.frombuffer(index, '<i8', documents, 34 + 12 * sequences)
    assert len(index) == 34 + 12 * sequences + 8 * documents
    assert numbers.tolist() == list(range(documents))
    assert lengths.sum() * np.dtype(dtype).itemsize == len(data)
    return [np.frombuffer(data, dtype, length, place).tolist()
            for length, place in zip(lengths, places)]


def read_ds(path, dtype='<u2'):
    """Return the documents by the ends in Nanotron's files."""
    tokens = np.fromfile(path, dtype)
    ends = np.fromfile(f'{path}.index', '<u8').astype(int)
    assert ends[-1] == len(tokens)
    return [part.tolist() for part in np.split(tokens, ends[:-1])]

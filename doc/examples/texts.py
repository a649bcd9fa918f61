# SPDX-License-Identifier: MIT
"""Texts for a language model, with the library tokenizers: tokenized to files, and tokenized on the
fly, which gives the same samples. This example generates the texts and the tokenizer; use your own
tokenizer.json.
"""

import itertools
import sys

import numpy as np

import loaderx as lx
from loaderx.tokenize import write_tokens

try:
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
except ModuleNotFoundError:
    print('the library tokenizers is not installed')
    sys.exit(77)

LENGTH = 128  # tokens of an input

random = np.random.default_rng(1)
words = np.array('the a cat dog house sees runs and or small large blue red quickly .'.split())
texts = [' '.join(random.choice(words, random.integers(5, 200))) for _ in range(2000)]
with lx.create('stories', {'text': lx.Field(str, compress='flate')}) as writer:
    writer.extend(text=texts)

tokenizer = Tokenizer(models.BPE())
tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel()
tokenizer.train_from_iterator(texts, trainers.BpeTrainer(
    vocab_size=500, special_tokens=['<|end|>'], show_progress=False,
    initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
tokenizer.save('tokenizer.json')

# As `python -m loaderx.tokenize --tokenizer tokenizer.json --eos '<|end|>' -o stories.bin stories`.
report = write_tokens('stories', 'stories.bin', 'tokenizer.json', eos='<|end|>')
print(f"{report['tokens']} tokens of {report['documents']} documents in {report['files']}")
samples = lx.TokenDataset('stories.bin', LENGTH)


def begin():
    """Tokenize on the fly: an order of the documents, which are joined in that order."""
    return lx.TokenStream('stories', 'tokenizer.json', LENGTH, separator='<|end|>', epochs=None,
                          order=lx.Shuffle(seed=42), batch_size=8)


with lx.TokenStream('stories', 'tokenizer.json', LENGTH, separator='<|end|>') as stream:
    made = np.stack([sample['tokens'] for sample in stream])
same = np.array_equal(made, samples.gather(slice(None))['tokens'])
print(f'{len(made)} samples of files and of texts,', 'the same' if same else 'NOT the same')

with begin() as stream:
    for batch in itertools.islice(stream, 20):
        inputs, labels = batch['tokens'][:, :-1], batch['tokens'][:, 1:]
    state = stream.state_dict()  # small: the position of the next sample, without tokens
    expected = next(stream)['tokens']
with begin() as resumed:
    resumed.load_state_dict(state)
    goes_on = np.array_equal(next(resumed)['tokens'], expected)
print('resumed by its state,', 'the same' if goes_on else 'NOT the same')
assert same and goes_on

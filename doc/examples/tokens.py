# SPDX-License-Identifier: MIT
"""Tokens for a language model: whole documents are packed into samples, and each batch has the
columns that attention needs to separate them. This example generates its corpus.
"""

import numpy as np

import loaderx as lx

LENGTH = 1024  # tokens of a sample


def make_corpus(path, documents, seed):
    """Write tokens of two bytes and the ends of documents, in the format of Nanotron."""
    random = np.random.default_rng(seed)
    ends = np.cumsum(random.integers(1, 3000, documents))
    random.integers(0, 50257, ends[-1]).astype('<u2').tofile(path)
    ends.astype('<u8').tofile(path + '.index')


make_corpus('text.ds', 3000, 1)
make_corpus('code.ds', 1000, 2)
tokens = lx.Tokens(['text.ds', 'code.ds'])
print(tokens)

# As a stream: a document may continue in the next sample.
stream = lx.TokenDataset(tokens, LENGTH, vocabulary=50257)
# As documents: each is within one sample, unless it is longer than a sample.
packed = lx.PackedDataset(tokens, LENGTH, vocabulary=50257, segments=True, positions=True)
print(f'{len(stream)} samples of the stream, {len(packed)} of whole documents, of which '
      f'{packed.padding_share:.2%} is padding')

loader = lx.Loader(packed, batch_size=8, order=lx.Shuffle(seed=42), epochs=1)
for step, batch in enumerate(loader):
    tokens_in, positions = batch['tokens'], batch['positions']
    offsets, longest = lx.cu_seqlens(batch['segments'])  # for attention within documents
    if step == 0:
        print(f'{tokens_in.shape} tokens, {len(offsets) - 1} pieces, the longest of {longest}')
    if step == 10:
        state = loader.state_dict()  # small, and restored at once at any position
        break

resumed = lx.Loader(packed, batch_size=8, order=lx.Shuffle(seed=42), epochs=1, start=88)
loader.load_state_dict(state)
same = np.array_equal(next(loader)['tokens'], next(resumed)['tokens'])
print('resumed by its state and by the count of samples:', 'the same' if same else 'NOT the same')
assert same

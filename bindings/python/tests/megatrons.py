# SPDX-License-Identifier: MIT
"""A model of Megatron's GPT dataset in NumPy, from doc/packing.md; and files of documents."""

import numpy as np

import loaderx as lx

# The defaults of Dataset except where listed.
DEFAULTS = {'num_samples': None, 'seed': 1234, 'extra': True, 'partial': False, 'eod': -1,
            'pad': -1, 'reset_positions': False, 'reset_mask': False, 'mask_loss': False}


class Dataset:
    """The tables of documents, and samples of them."""

    def __init__(self, documents, length, **options):
        self.documents, self.length = documents, length
        self.__dict__.update({**DEFAULTS, **options})
        self.first, self.end = options.get('range', (0, len(documents)))
        sizes = [len(document) for document in documents]
        tokens = sum(sizes[self.first:self.end])
        self.epochs = self._count_epochs(tokens)
        before = ((self.epochs - 1) * tokens - self.extra) // length
        a_whole_one = (tokens - self.extra) // length
        self.apart = self.epochs > 1 and self.num_samples - before < int(.8 * a_whole_one)
        random = np.random.RandomState(self.seed)
        self.document_index = self._order_documents(random)
        stream = np.concatenate([documents[i] for i in self.document_index])
        self.places = np.concatenate([np.full(sizes[i], place)
                                      for place, i in enumerate(self.document_index)])
        self.samples = self._cut(stream)
        parts = [np.arange(len(self.samples))]
        if self.apart:
            parts = [np.arange(before), np.arange(before, len(self.samples))]
        for part in parts:
            random.shuffle(part)
        self.shuffle_index = np.concatenate(parts)

    def _count_epochs(self, tokens):
        epochs = 1
        while self.num_samples is not None \
                and epochs * tokens < self.num_samples * self.length + self.extra:
            epochs += 1
        return epochs

    def _order_documents(self, random):
        of_one = np.arange(self.first, self.end, dtype=np.int32)
        parts = [np.tile(of_one, self.epochs)]
        if self.apart:
            parts = [np.tile(of_one, self.epochs - 1), of_one]
        for part in parts:
            random.shuffle(part)
        return np.concatenate(parts)

    def _cut(self, stream):
        """Return the tokens of each sample, and their positions."""
        whole = self.length + self.extra
        samples = []
        for begin in range(0, len(stream) - self.extra, self.length):
            text, places = stream[begin:begin + whole], self.places[begin:begin + whole]
            if len(text) < whole and not self.partial:
                break
            padding = (0, whole - len(text))
            samples.append((np.pad(text, padding, constant_values=self.pad),
                            np.pad(places, padding, mode='edge')))
        return samples

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, i):
        text, _ = self.samples[self.shuffle_index[i]]
        inputs, labels = text[:self.length].astype(np.int64), np.full(self.length, self.pad)
        labels[:len(text) - 1] = text[1:]
        loss = np.ones(self.length, np.float32)
        mask = np.triu(np.ones((1, self.length, self.length), bool), 1)
        positions = np.arange(self.length)
        for end in np.flatnonzero(inputs == self.eod):
            if self.mask_loss:
                loss[end] = 0
            if self.reset_mask:
                mask[0, end + 1:, :end + 1] = True
            if self.reset_positions:
                positions[end + 1:] = np.arange(self.length - end - 1)
        loss[labels == self.pad] = 0
        return {'tokens': np.where(inputs == self.pad, 0, inputs),
                'labels': np.where(labels == self.pad, 0, labels),
                'attention_mask': mask, 'loss_mask': loss, 'position_ids': positions}

    def pieces(self, i):
        """Return the tokens of a sample that begin a piece for attention within documents.

        The last piece loses the extra token, and then takes the padding; if it had no other token,
        the piece before it takes the padding.
        """
        k = self.shuffle_index[i]
        places = self.places[k * self.length:][:self.length + self.extra]
        lengths = np.unique(places, return_counts=True)[1].tolist()
        if self.extra:
            lengths[-1] -= 1
            lengths = lengths[:-1] if lengths[-1] == 0 else lengths
        return [0, *np.cumsum(lengths[:-1]).tolist()] if lengths else [0]


def draw_documents(random, count, longest, least=0):
    """Draw arrays of tokens below 20, at least two tokens in total."""
    lengths = random.integers(least, longest, count)
    lengths[-1] = max(lengths[-1], 2)
    return [random.integers(0, 20, length) for length in lengths]


def write_documents(path, documents):
    """Write the files of an indexed dataset of Megatron, and open them."""
    lengths = np.array([len(document) for document in documents], '<i4')
    places = np.cumsum([0, *lengths[:-1]]) * 2
    path.with_suffix('.bin').write_bytes(np.concatenate(documents).astype('<u2').tobytes())
    header = np.array([len(lengths), len(lengths) + 1], '<u8')
    path.with_suffix('.idx').write_bytes(
        b'MMIDIDX\0\0' + np.array([1], '<u8').tobytes() + b'\x08' + header.tobytes()
        + lengths.tobytes() + places.astype('<i8').tobytes()
        + np.arange(len(lengths) + 1, dtype='<i8').tobytes())
    return lx.Tokens(path.with_suffix('.bin'))


def build_blend(weights, size):
    """Return the dataset and the sample at each position of a blend, by Megatron's greedy loop."""
    shares = np.array(weights, np.float64)
    shares = shares / np.sum(shares)
    had = np.zeros(len(weights), np.int64)
    pairs = []
    for k in range(size):
        one = int(np.argmax(shares * max(k, 1.0) - had))
        pairs.append((one, int(had[one])))
        had[one] += 1
    return pairs

# SPDX-License-Identifier: MIT
"""A GPT of a few layers, without dropout: training draws no random numbers."""

import torch
from torch import nn
from torch.nn import functional

WIDTH, HEADS, LAYERS = 128, 4, 2


class Block(nn.Module):
    """Causal attention and a two-layer MLP, each with a residual connection."""

    def __init__(self, context):
        super().__init__()
        self.before_attention, self.before_layers = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.queries, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.layers = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(),
                                    nn.Linear(4 * WIDTH, WIDTH))
        future = torch.ones(context, context, dtype=torch.bool).triu(1)
        self.register_buffer('future', future, persistent=False)

    def attend(self, x):
        samples, length, _ = x.shape
        queries, keys, values = (part.view(samples, length, HEADS, -1).transpose(1, 2)
                                 for part in self.queries(x).chunk(3, dim=2))
        scores = queries @ keys.transpose(2, 3) / (WIDTH // HEADS) ** 0.5
        chances = scores.masked_fill(self.future[:length, :length], float('-inf')).softmax(3)
        return self.out((chances @ values).transpose(1, 2).reshape(samples, length, WIDTH))

    def forward(self, x):
        x = x + self.attend(self.before_attention(x))
        return x + self.layers(self.before_layers(x))


class Model(nn.Module):
    """Scores of the next token; the output layer shares the token embedding."""

    def __init__(self, vocabulary, context):
        super().__init__()
        self.tokens, self.places = nn.Embedding(vocabulary, WIDTH), nn.Embedding(context, WIDTH)
        self.blocks = nn.Sequential(*(Block(context) for _ in range(LAYERS)))
        self.last = nn.LayerNorm(WIDTH)
        for embedding in self.tokens, self.places:
            nn.init.normal_(embedding.weight, std=0.02)

    def forward(self, tokens):
        """Return the mean loss of samples, shape (n, length + 1)."""
        inputs, labels = tokens[:, :-1], tokens[:, 1:]
        x = self.tokens(inputs) + self.places(torch.arange(inputs.shape[1]))
        scores = self.last(self.blocks(x)) @ self.tokens.weight.T
        return functional.cross_entropy(scores.flatten(0, 1), labels.flatten())

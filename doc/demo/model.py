# SPDX-License-Identifier: MIT
"""A classifier of two layers in NumPy: what a training needs beside its data, and no more."""

import hashlib

import numpy as np

HIDDEN = 128
CLASSES = 10
PIXELS = 28 * 28
MOMENTUM = 0.9


class Classifier:
    """Pixels, a hidden layer of rectified units, and a score for each class.

    Parameters
    ----------
    seed : int
        Of the first weights.
    """

    def __init__(self, seed=0):
        random = np.random.default_rng(seed)

        def weights(rows, columns):
            spread = np.sqrt(2 / rows)
            return (random.standard_normal((rows, columns)) * spread).astype(np.float32)

        self.weights = {
            "w1": weights(PIXELS, HIDDEN),
            "b1": np.zeros(HIDDEN, np.float32),
            "w2": weights(HIDDEN, CLASSES),
            "b2": np.zeros(CLASSES, np.float32),
        }
        self.speed = {name: np.zeros_like(value) for name, value in self.weights.items()}

    def scores(self, images):
        """Return the hidden layer and the scores, shape (n, 10), of images of bytes."""
        pixels = images.reshape(len(images), PIXELS).astype(np.float32) / 255
        hidden = np.maximum(pixels @ self.weights["w1"] + self.weights["b1"], 0)
        return pixels, hidden, hidden @ self.weights["w2"] + self.weights["b2"]

    def step(self, images, labels, rate):
        """Learn from one batch at a rate, and return its mean loss."""
        pixels, hidden, scores = self.scores(images)
        rows = np.arange(len(labels))
        scores -= scores.max(axis=1, keepdims=True)
        chances = np.exp(scores)
        chances /= chances.sum(axis=1, keepdims=True)
        loss = -np.log(np.maximum(chances[rows, labels], 1e-12)).mean()

        slope = chances
        slope[rows, labels] -= 1
        slope /= len(labels)
        inner = (slope @ self.weights["w2"].T) * (hidden > 0)
        slopes = {
            "w1": pixels.T @ inner,
            "b1": inner.sum(axis=0),
            "w2": hidden.T @ slope,
            "b2": slope.sum(axis=0),
        }
        for name, value in slopes.items():
            self.speed[name] = MOMENTUM * self.speed[name] - rate * value
            self.weights[name] += self.speed[name]
        return float(loss)

    def accuracy(self, images, labels):
        """Return the share of images whose best score is that of their label."""
        return float((self.scores(images)[2].argmax(axis=1) == labels).mean())

    def arrays(self):
        """Return all that a checkpoint has to hold, by name."""
        speed = {"speed_" + name: value for name, value in self.speed.items()}
        return {**self.weights, **speed}

    def load(self, arrays):
        """Take over what `arrays` gave."""
        for name in self.weights:
            self.weights[name] = arrays[name]
            self.speed[name] = arrays["speed_" + name]

    def digest(self):
        """Return a digest of the weights, to be compared."""
        digest = hashlib.sha256()
        for value in self.arrays().values():
            digest.update(value.tobytes())
        return digest.hexdigest()[:16]

# SPDX-License-Identifier: MIT
"""Train a Flax encoder on the images of a dataset, and store its vectors in a new field.

Needs JAX, Flax and Optax (exit status 77 means skipped). The images are synthetic: bright bars at
one of eight angles, with noise.
"""

import sys

import numpy as np

try:
    import flax.linen as nn
    import jax
    import jax.numpy as jnp
    import optax
except ModuleNotFoundError as error:
    print(f'SKIP: there is no {error.name}')
    sys.exit(77)

import loaderx as lx
import loaderx.jax

N, SIDE, ANGLES = 4096, 16, 8
draw = np.random.default_rng(0)
angles = draw.integers(0, ANGLES, N)
across = np.linspace(-1, 1, SIDE)
turned = (np.cos(angles * np.pi / ANGLES)[:, None, None] * across[None, :, None]
          + np.sin(angles * np.pi / ANGLES)[:, None, None] * across[None, None, :])
images = np.clip(200 * (np.abs(turned) < 0.2) + draw.normal(30, 20, turned.shape), 0, 255)

with lx.create('bars', {'image': lx.Field('uint8', (SIDE, SIDE)),
                        'angle': lx.Field('int32')}) as writer:
    writer.extend(image=images.astype('uint8'), angle=angles.astype('int32'))


class Encoder(nn.Module):
    @nn.compact
    def __call__(self, image):
        x = image[..., None] / 255.0
        for features in 8, 16:
            x = nn.relu(nn.Conv(features, (3, 3), strides=(2, 2))(x))
        return nn.Dense(16)(x.reshape(len(x), -1))


class Classifier(nn.Module):
    def setup(self):
        self.encoder = Encoder()
        self.head = nn.Dense(ANGLES)

    def __call__(self, image):
        return self.head(nn.relu(self.encoder(image)))


# Use all devices: each has a share of a batch, and all have the parameters.
mesh = jax.sharding.Mesh(np.array(jax.devices()), ('data',))
rows = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec('data'))
batch_size = 128 * len(jax.devices())

model = Classifier()
optimizer = optax.adam(3e-3)
parameters = model.init(jax.random.key(0), jnp.zeros((1, SIDE, SIDE)))
moments = optimizer.init(parameters)


@jax.jit
def step(parameters, moments, batch):
    def loss_of(parameters):
        logits = model.apply(parameters, batch['image'])
        losses = optax.softmax_cross_entropy_with_integer_labels(logits, batch['angle'])
        return losses.mean()

    loss, gradients = jax.value_and_grad(loss_of)(parameters)
    updates, moments = optimizer.update(gradients, moments)
    return optax.apply_updates(parameters, updates), moments, loss


bars = lx.open('bars')
with loaderx.jax.Loader(bars, batch_size=batch_size, order=lx.Shuffle(seed=1), drop_last=True,
                        sharding=rows) as loader:
    for epoch in range(3):
        losses = []
        for batch in loader:
            parameters, moments, loss = step(parameters, moments, batch)
            losses.append(loss)
        print(f'epoch {epoch}: loss {np.mean(losses):.3f}')
assert np.mean(losses) < 0.5


# The encoder reads all images in order; its vectors go to a new field.
@jax.jit
def encode(image):
    return model.apply(parameters, image, method=lambda model, image: model.encoder(image))


with lx.open('bars', mode='r+') as writer:
    writer.add_field('vector', lx.Field('float32', (16,)))
    with lx.Loader(bars, fields=['image'], batch_size=512, out='jax') as loader:
        for number, batch in enumerate(loader):
            first = number * 512
            vectors = np.asarray(encode(batch['image']))
            writer[first:first + len(vectors)] = {'vector': vectors}

with lx.open('bars') as grown:
    assert grown['vector'].present().all()
    vectors, angles = grown['vector'][:], grown['angle'][:]
centers = np.stack([vectors[angles == angle].mean(axis=0) for angle in range(ANGLES)])
nearest = np.linalg.norm(vectors[:, None] - centers, axis=2).argmin(axis=1)
print(f'{N} vectors of {vectors.shape[1]} numbers; the nearest center is the right one for '
      f'{(nearest == angles).mean():.0%}')
assert (nearest == angles).mean() > 0.5

# SPDX-License-Identifier: MIT
"""Draw the share of each set of a mixture, phase by phase, from the JSON of `loaderx blend`."""

import json
import subprocess
import sys

try:
    import matplotlib
except ImportError:
    print('this example needs matplotlib')
    sys.exit(77)

matplotlib.use('Agg')    # into a file, without a display
import matplotlib.pyplot as plt

# Mostly easy records in the first half of the epoch, then mostly hard ones.
command = ['loaderx', 'blend', '--set', 'easy=1000', '--set', 'hard=4000', '--weights', '3,1',
           '--weights', '5000:1,3', '--length', '10000', '--json']
blend = json.loads(subprocess.check_output(command))

phases = [phase for phase in blend['phases'] if phase['positions'] != 0]
edges = [phases[0]['offset']] + [phase['until'] for phase in phases]
figure, axes = plt.subplots(layout='constrained')
below = [0] * len(phases)
for number, one in enumerate(blend['sets']):
    shares = [100 * phase['samples'][number] / phase['positions'] for phase in phases]
    above = [low + share for low, share in zip(below, shares)]
    axes.stairs(above, edges, baseline=below, fill=True, label=one['name'])
    below = above
axes.set(xlabel='offset in an epoch', ylabel='share of the samples, %', ylim=(0, 100))
axes.legend()
figure.savefig('shares.svg')
print('shares.svg:', ', '.join(f"{one['name']} {one['samples']}" for one in blend['sets']))

assert [one['samples'] for one in blend['sets']] == [5000, 5000]

# SPDX-License-Identifier: MIT
"""Plot the losses of an uninterrupted run, and of runs that were killed and resumed."""

import argparse
import json
import os

import matplotlib

matplotlib.use('Agg')
import matplotlib.pyplot as plt


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('work', help='the folder of run.py')
    parser.add_argument('out', help='the picture, .svg or .png')
    return parser.parse_args()


def name_of(run, world):
    """Return the legend of a run."""
    return f'{run.split("-on-")[0].replace("-", " ")}, {world} process{"es" if world > 1 else ""}'


def main():
    wanted = arguments()
    with open(os.path.join(wanted.work, 'curves.json')) as file:
        curves = json.load(file)
    world, whole = curves.pop('never-stopped')
    losses = dict(whole)
    # Makes the file reproducible.
    plt.rcParams.update({'svg.hashsalt': 'loaderx', 'svg.fonttype': 'none'})
    figure, (upper, lower) = plt.subplots(2, sharex=True, figsize=(8, 6), layout='constrained',
                                          height_ratios=(3, 1))
    upper.plot(*zip(*whole), color='0.8', linewidth=5, label=name_of('never-stopped', world))
    for number, (run, (world, curve)) in enumerate(curves.items()):
        style = dict(color=f'C{number}', label=name_of(run, world))
        upper.plot(*zip(*curve), linewidth=1.2, linestyle=(4 * number, (4, 12)), **style)
        lower.plot([step for step, _ in curve], [loss - losses[step] for step, loss in curve],
                   linewidth=1, **style)
    killed = curves['killed'][1][-1][0]
    for axes in upper, lower:
        axes.axvline(killed, color='0.3', linewidth=0.8, linestyle=':')
    upper.annotate('kill -9', (killed, 0.9), xycoords=('data', 'axes fraction'), xytext=(5, 0),
                   textcoords='offset points')
    upper.set(ylabel='loss', title='A small GPT on real text')
    upper.legend(loc='lower left')
    lower.set(xlabel='step', ylabel='apart from\nnever stopped')
    figure.savefig(wanted.out, dpi=110,
                   metadata={'Date': None} if wanted.out.endswith('.svg') else None)
    print(f'{wanted.out}: {os.path.getsize(wanted.out):,} bytes')


if __name__ == '__main__':
    main()

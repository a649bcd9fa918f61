# SPDX-License-Identifier: MIT
"""Makes the page and the plots of the results of the benchmarks.

    python3 tests/bench/bench-page.py DIR

DIR has the files that `make bench-c`, bench-peers.py, bench-augment.py and bench-remote.py write:
performance-c.json, performance-disk.json, performance-peers.json, performance-images.json,
performance-remote.json. Beside them are written performance.md, performance-c.svg,
performance-peers.svg and, for the README, performance-training.svg. A comparison in which loaderx
is not ahead needs a remark that says what the other does; remarks.py has them.
"""

import collections
import json
import math
import os
import statistics
import sys
import textwrap
from html import escape

from remarks import GOALS, REMARKS

LEVEL = .95    # of the speed of the fastest other: from here on, we are not behind
OURS = ('gather', 'loader', 'append', 'extend', 'the epoch', 'batches of 256', 'open', 'commit',
        'modify')    # how the names of our cases begin

PAGE = '''# Performance

This page is made by `tests/bench/bench-page.py`, of files with every round that are beside it.
Times depend on the machine, and vary by 10 to 30 % from run to run. Compare ratios, which are of
one run: the ways to do a job take turns, A B C A B C, for {rounds} rounds or more, and results are
medians.

{machine}

## The C libraries

Each job is also done by a plain loop in the same program: copying from a mapping of the same file,
or writing plain files. This reference is the first row of a job, and its speed is 1.

![Speed relative to the reference](performance-c.svg)

{c}
Make the numbers again with `make bench-c`, which takes about {c_minutes} minutes. The variable
`bench_memory` names a folder on a tmpfs with room for 6 GiB, and `bench_disk` one on a disk.

## The Python package beside others

Each package is alone in its process, which is stopped while another runs. It has returned the same
records as NumPy before it is timed, except for appends of litdata and WebDataset, which can be read
only by their loaders. The bar of a package is how many times as fast loaderx is; it points to the
left if loaderx is slower.

![How many times as fast loaderx is](performance-peers.svg)

{peers}
{missing}{versions}

Make the numbers again with `python3 tests/bench/bench-peers.py --out DIR`, which takes about
{peers_minutes} minutes; a DIR on a tmpfs is best, and `--original` names the folder of loaderx 2.8.

## Images for training

Each way decodes the same 256 photographs of 500 x 400 pixels, JPEG of quality 90, cuts random parts
of .08 to 1 of the area, resizes them to 224 x 224, mirrors half of them, and normalizes to float32,
channels first, on two threads or processes. All take turns in one process.

{images}
libjpeg-turbo alone decodes whole images, and does nothing else. loaderx decodes only the rows and
blocks of the part that is wanted.

{images_c}
{images_versions}

Make the numbers again with `python3 tests/bench/bench-augment.py DIR --bench tests/bench/bench
--json DIR/performance-images.json`.

## A dataset on a server far away

Two ranks of one host read an epoch from nginx, with an empty cache and then with what it left. The
way is a link of the rate and the round trip that the first table names. There, curl shows what it
carries if so many ranges are in flight, and what that costs.

{link}
The packages read the same records, as each of them stores these for a server, with a window of
shuffling of its own. "Of the link" is the share of what curl got at best; the seconds of processors
are those with an empty cache, of all processes of a package.

{remote}
{remote_missing}What loaderx should reach there, and in a cache for a quarter of the data:

{goals}
{remote_versions}

Make the numbers again with `python3 tests/bench/bench-remote.py DIR --json
DIR/performance-remote.json`, as root, which takes about {remote_minutes} minutes.

Then `python3 tests/bench/bench-page.py DIR` makes this page of the files in DIR.
'''


# ---- reading

class Case:
    """A way to do a job: its speed, in units a second, and the times of a unit."""

    def __init__(self, case):
        units = case.get('records', 1)
        rounds = [seconds / units for seconds in case['round_seconds']]
        self.name = case['name']
        self.low, self.median, self.high = statistics.quantiles(rounds, n=4, method='inclusive')

    @property
    def speed(self):
        return 1 / self.median


class Group:
    """A job, and the ways to do it, of which some are ours."""

    def __init__(self, group, is_ours):
        self.title, self.unit = group['title'], group['unit']
        self.cases = [Case(case) for case in group['cases']]
        self.ours = [case for case in self.cases if is_ours(case.name)]
        self.others = [case for case in self.cases if not is_ours(case.name)]

    def is_behind(self):
        return bool(self.ours and self.others) and (
            fastest(self.ours).speed < LEVEL * fastest(self.others).speed)


def fastest(cases):
    return max(cases, key=lambda case: case.speed)


def read_report(folder, name):
    with open(os.path.join(folder, f'performance-{name}.json'), encoding='utf-8') as file:
        return json.load(file)


def groups_of(report, is_ours):
    return [Group(group, is_ours) for group in report['groups'] if group.get('cases')]


def groups_of_c(*reports):
    """Jobs that were done on two file systems are told apart by the name of the file system."""
    times = collections.Counter(group['title'] for report in reports for group in report['groups'])
    groups = []
    for report in reports:
        for group in groups_of(report, lambda name: name.startswith(OURS)):
            if times[group.title] > 1:
                group.title += f', {report["machine"]["file_system"]}'
            groups.append(group)
    return groups


# ---- Markdown

def fill(text):
    return textwrap.fill(text, 100, break_on_hyphens=False)


def show_time(seconds):
    for unit, factor in (('s', 1), ('ms', 1e3), ('us', 1e6), ('ns', 1e9)):
        if seconds * factor >= 1 or unit == 'ns':
            return f'{seconds * factor:.3g} {unit}' if seconds * factor < 1000 else (
                f'{seconds * factor:,.0f} {unit}')
    raise AssertionError


def show_ratio(ratio):
    return f'{ratio:,.0f}' if ratio >= 100 else f'{ratio:.3g}' if ratio >= 1 else f'{ratio:.2f}'


def make_table(groups, ratio_name, ratio):
    lines = [f'| job | way | time | quartiles | a second | {ratio_name} |',
             '|---|---|--:|--:|--:|--:|']
    for group in groups:
        for i, case in enumerate(group.cases):
            job = f'**{group.title}**, for one {group.unit}' if i == 0 else ''
            lines.append(f'| {job} | {case.name} | {show_time(case.median)} '
                         f'| {show_time(case.low)} to {show_time(case.high)} '
                         f'| {float(f"{case.speed:.3g}"):,.0f} | {ratio(group, case)} |')
    return '\n'.join(lines) + '\n'


def make_remarks(groups):
    """Return the remarks on jobs at which loaderx is behind, each once; fail if one is missing."""
    found, missing = {}, []
    for group in filter(Group.is_behind, groups):
        begin = max(filter(group.title.startswith, REMARKS), key=len, default=None)
        if begin is None:
            missing.append(group.title)
        else:
            found.setdefault(begin, []).append(group)
    if missing:
        sys.exit('remarks.py says nothing of these jobs, at which loaderx is behind:\n  ' +
                 '\n  '.join(missing))
    if not found:
        return ''
    lines = ['\nWhere loaderx is not ahead:\n']
    for begin, behind in found.items():
        ratios = [fastest(group.ours).speed / fastest(group.others).speed for group in behind]
        low, high = show_ratio(min(ratios)), show_ratio(max(ratios))
        lines.append(textwrap.fill(
            f'- **{begin}** ({low if low == high else f"{low} to {high}"} of the fastest other '
            f'way): {REMARKS[begin]}', 100, subsequent_indent='  '))
    return '\n'.join(lines) + '\n'


def compare_with_first(groups):
    """Return a table of speeds relative to the first way."""
    return make_table(groups, 'speed', lambda group, case:
                      show_ratio(case.speed / group.cases[0].speed)) + make_remarks(groups)


def compare_with_ours(groups):
    """Return a table of how many times as fast loaderx is."""
    return make_table(groups, 'loaderx is faster, times', lambda group, case:
                      show_ratio(fastest(group.ours).speed / case.speed)
                      if group.ours else '') + make_remarks(groups)


def make_rows(names, rows):
    """Return a table of numbers, except for the first column, and the reasons."""
    aligned = ['---' if name in (names[0], 'why') else '--:' for name in names]
    lines = [f'| {" | ".join(line)} |' for line in (names, *rows)]
    return '\n'.join([lines[0], f'|{"|".join(aligned)}|', *lines[1:]]) + '\n'


def show_remote(report):
    """Return the parts of the page about a dataset on a server."""
    link, packages, goals = report['groups']
    return {
        'link': make_rows(
            (link['title'], 'MiB a second', 'processor seconds a GB'),
            [(case['name'], f'{case["bytes_a_second"] / 2**20:.1f}',
              f'{case["cpu_seconds_a_gb"]:.2f}') for case in link['cases']]),
        'remote': make_rows(
            (packages['title'], 'empty cache', 'of the link', 'full cache', 'requests',
             'bytes / data', 'first batch', 'processor seconds a GB'),
            [(case['name'], show_time(statistics.median(case['cold_seconds'])),
              f'{case["cold_of_link"]:.2f}', show_time(statistics.median(case['warm_seconds'])),
              f'{case["requests"]:.0f}', f'{case["bytes_of_dataset"]:.3f}',
              show_time(case['first_seconds']), f'{case["cpu_seconds_a_gb"]:.2f}')
             for case in packages['cases']]),
        'goals': make_rows(
            ('loaderx', 'value', 'goal', 'why'),
            [(case['name'], f'{case["value"]:.3f}', case['goal'], GOALS.get(case['name'], ''))
             for case in goals['cases']]),
        'remote_missing': list_missing(report),
        'remote_versions': show_sources(report),
        'remote_minutes': round(report['seconds'] / 60)}


def list_missing(report):
    lines = ''.join(f'- {name}: {reason}\n' for name, reason in report['missing'].items())
    return f'Not measured:\n\n{lines}\n' if lines else ''


def list_versions(*reports):
    versions = {name: version for one in reports for name, version in one['versions'].items()}
    return ', '.join(f'{name} {version}' for name, version in sorted(versions.items()))


def show_sources(report):
    return fill(f'Sources: {report["commit"]}; the load at the start was '
                f'{report["machine"]["load"]:.1f}. Versions: {list_versions(report)}.')


def describe_machine(reports):
    machine = reports[0]['machine']
    # `make bench-c` measures the disk directly after memory: that load is its own.
    loads = [report['machine']['load'] for report in (reports[0], reports[-1])]
    busy = ('was idle otherwise' if max(loads) < .5 else
            'had other work, too, which shared the processors with both sides of a comparison')
    return fill(f'The machine: {machine["processors"]} processors ({machine["processor"]}, '
            f'{machine["architecture"]}), {machine["memory"] / 2**30:.0f} GiB of memory, '
            f'{machine["system"]} {machine["release"]}, files on '
            f'{" and ".join(dict.fromkeys(one["machine"]["file_system"] for one in reports))}. '
            f'When the two commands began, the load was '
            f'{" and ".join(f"{load:.1f}" for load in loads)}: the machine {busy}. The sources: '
            f'{", ".join(dict.fromkeys(report["commit"] for report in reports))}.')


# ---- SVG

STYLE = '''<style>
text { font: 12px sans-serif; fill: #333 } .title { font-weight: bold } line { stroke: #999 }
.ahead { fill: #4a86c5 } .behind { fill: #c5864a }
@media (prefers-color-scheme: dark) { text { fill: #ccc } }
</style>'''
LABEL, WIDTH, LINE = 250, 760, 16


def make_plot(bars):
    """Bars from 1 to their ratio on a logarithmic scale. A bar is (title, None) or (name,
    ratio)."""
    ratios = [ratio for _, ratio in bars if ratio]
    low = min(math.floor(math.log10(min(ratios) * 1.001)), -1)
    high = max(math.ceil(math.log10(max(ratios))), 1)

    def place(ratio):
        return LABEL + 10 + (WIDTH - LABEL - 70) * (math.log10(ratio) - low) / (high - low)

    height = LINE * (len(bars) + 1) + 10
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}">', STYLE]
    for power in range(low, high + 1):
        x = place(10**power)
        lines.append(f'<text x="{x:.0f}" y="12" text-anchor="middle">{10.0**power:g}</text>')
        lines.append(f'<line x1="{x:.0f}" x2="{x:.0f}" y1="16" y2="{height}" '
                     f'stroke-width="{2 if power == 0 else .5}"/>')
    for i, (name, ratio) in enumerate(bars):
        y = LINE * (i + 2)
        if ratio is None:
            lines.append(f'<text class="title" x="4" y="{y}">{escape(name)}</text>')
            continue
        begin, end = sorted((place(1), place(ratio)))
        kind = 'ahead' if ratio >= LEVEL else 'behind'
        lines.append(f'<text x="{LABEL}" y="{y}" text-anchor="end">{escape(name)}</text>'
                     f'<rect class="{kind}" x="{begin:.1f}" y="{y - 10}" '
                     f'width="{max(end - begin, 1):.1f}" height="11"/>'
                     f'<text x="{end + 4:.0f}" y="{y}">{show_ratio(ratio)}</text>')
    return '\n'.join(lines + ['</svg>']) + '\n'


def plot_c(groups):
    for group in groups:
        if not group.ours:
            continue
        yield group.title, None
        for case in group.ours:
            yield case.name, case.speed / group.cases[0].speed


def plot_peers(groups):
    for group in groups:
        yield group.title, None
        for case in group.others:
            yield case.name, fastest(group.ours).speed / case.speed


# ---- the page

def main():
    if len(sys.argv) != 2:
        sys.exit('usage: bench-page.py DIR')
    folder = sys.argv[1]
    reports = memory, disk, peers = [read_report(folder, name) for name in ('c', 'disk', 'peers')]
    images = read_report(folder, 'images')
    c_groups = groups_of_c(memory, disk)
    peer_groups = groups_of(peers, lambda name: name == 'loaderx')
    image_groups = groups_of(images, lambda name: name.startswith('loader'))
    page = PAGE.format(
        rounds=min(report['rounds'] for report in reports), machine=describe_machine(reports),
        c=compare_with_first(c_groups), peers=compare_with_ours(peer_groups),
        images=compare_with_ours(image_groups[:1]), images_c=compare_with_first(image_groups[1:]),
        images_versions=show_sources(images),
        c_minutes=round((memory['seconds'] + disk['seconds']) / 60),
        peers_minutes=round(peers['seconds'] / 60),
        missing=list_missing(peers), **show_remote(read_report(folder, 'remote')),
        versions=fill(f'Versions: {list_versions(memory, peers)}.'))
    for name, text in (('.md', page), ('-c.svg', make_plot(list(plot_c(c_groups)))),
                       ('-peers.svg', make_plot(list(plot_peers(peer_groups)))),
                       ('-training.svg', make_plot(list(plot_peers([peer_groups[0],
                                                                    image_groups[0]]))))):
        with open(os.path.join(folder, 'performance' + name), 'w', encoding='utf-8') as file:
            file.write(text)


if __name__ == '__main__':
    main()

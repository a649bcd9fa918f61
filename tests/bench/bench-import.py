# SPDX-License-Identifier: MIT
"""Imports compared with reading and parsing the same files with Python's modules alone.

    PYTHONPATH=... python3 tests/bench/bench-import.py DIR [--rounds N] [--json FILE]

DIR is created if necessary, and keeps the files for the next run. An import also stores the records
and syncs them; the reference (json.loads(), csv.reader, tarfile, readlines()) keeps nothing. They
alternate, and the results are medians.
"""

import argparse
import csv
import io
import json
import os
import random
import shutil
import tarfile

import loaderx as lx
from turns import Case, new_report, write_report

WORDS = 5000
TEXTS = 100000    # of about 700 characters
IMAGES = 5000    # of 20 KB on average


def make_text(rng, words):
    return ' '.join(rng.choices(words, k=rng.randint(20, 200)))


def make_records():
    rng = random.Random(1)
    words = [f'{rng.getrandbits(rng.randint(8, 40)):x}' for _ in range(WORDS)]
    for i in range(TEXTS):
        yield {'id': i, 'url': f'https://example.org/{i}', 'score': rng.random(), 'ok': i % 2 == 0,
               'box': [rng.random(), i, 0.5, -1], 'text': make_text(rng, words) + ' "end"\n'}


def make_jsonl(path):
    with open(path, 'w', encoding='utf-8') as file:
        file.writelines(json.dumps(record) + '\n' for record in make_records())


def make_lines(path):
    with open(path, 'w', encoding='utf-8') as file:
        file.writelines(record['text'].replace('\n', '') + '\n' for record in make_records())


def make_csv(path):
    with open(path, 'w', newline='', encoding='utf-8') as file:
        writer = csv.writer(file)
        writer.writerow(['id', 'url', 'score', 'text'])
        writer.writerows([record[name] for name in ('id', 'url', 'score', 'text')]
                         for record in make_records())


def make_tar(path):
    rng = random.Random(2)
    with tarfile.open(path, 'w') as archive:
        for i in range(IMAGES):
            for name, data in ('jpg', rng.randbytes(rng.randrange(40000))), ('cls', b'%d' % i):
                member = tarfile.TarInfo(f'{i:06}.{name}')
                member.size = len(data)
                archive.addfile(member, io.BytesIO(data))


def read_jsonl(path):
    with open(path, encoding='utf-8') as file:
        for line in file:
            json.loads(line)


def read_lines(path):
    with open(path, encoding='utf-8') as file:
        for _ in file:
            pass


def read_csv(path):
    with open(path, newline='', encoding='utf-8') as file:
        for _ in csv.reader(file):
            pass


def read_tar(path):
    with tarfile.open(path) as archive:
        for member in archive:
            archive.extractfile(member).read()


FORMATS = {'jsonl': (make_jsonl, read_jsonl, lx.import_jsonl, 'json.loads'),
           'csv': (make_csv, read_csv, lx.import_csv, 'csv.reader'),
           'tar': (make_tar, read_tar, lx.import_tar, 'tarfile'),
           'lines': (make_lines, read_lines, lx.import_lines, 'readlines')}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('folder', metavar='DIR', help='where files are made and kept')
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--json', metavar='FILE', help='write every round there')
    wanted = parser.parse_args()
    os.makedirs(wanted.folder, exist_ok=True)
    report = new_report(wanted.rounds)
    print(f'{"":8}{"reference":>14}{"seconds":>10}{"MB/s":>8}{"import":>10}{"MB/s":>8}{"ratio":>8}')
    for name, (make, read, run, reference) in FORMATS.items():
        path = os.path.join(wanted.folder, f'data.{name}')
        output = os.path.join(wanted.folder, 'imported')
        if not os.path.exists(path):
            make(path)

        def store():
            shutil.rmtree(output, ignore_errors=True)
            run(path, output, progress=False)

        cases = [Case(reference, lambda: read(path), 1), Case('import', store, 1)]
        for i in range(wanted.rounds + 1):
            for case in cases:
                seconds = case.time(1)
                if i != 0:    # the first round warms up
                    case.seconds.append(seconds)
        size = os.path.getsize(path) / 1e6
        first, second = cases
        print(f'{name:8}{reference:>14}{first.median:10.3f}{size / first.median:8.0f}'
              f'{second.median:10.3f}{size / second.median:8.0f}{first.median / second.median:8.2f}',
              flush=True)
        report['groups'].append({'title': name, 'cases': [
            {'name': case.name, 'median_seconds': case.median, 'round_seconds': case.seconds}
            for case in cases]})
        shutil.rmtree(output, ignore_errors=True)
    if wanted.json:
        write_report(report, wanted.json)


if __name__ == '__main__':
    main()

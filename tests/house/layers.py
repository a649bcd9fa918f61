# SPDX-License-Identifier: MIT
"""Checks includes and calls in lib/ against the table `layers`, finds cycles, and checks that each
header declares only functions of its own source.

Calls are read with nm from the objects of the build: an object calls another if it needs a symbol
that the other defines. An include connects a file with a header. Both graphs must be free of
cycles, and every edge between two modules must be in the table.
"""

import os
import re
import shlex
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

INCLUDE = re.compile(r'^#include ["<]([a-z0-9/.-]+)[">]', re.MULTILINE)
COMMENT = re.compile(r'/\*.*?\*/', re.DOTALL)
DECLARATION = re.compile(r'^(?!static|typedef|#)\w[^;{}=#()]*?\b(lx__\w+)\s*\([^;{}]*;',
                         re.MULTILINE)


def read_table():
    table = {}
    for line in Path('tests/house/layers').read_text().splitlines():
        if line and not line.startswith('#'):
            module, allowed = line.split(':')
            table[module] = set(allowed.split()) | {module}
    return table


def read_includes():
    """Edges between files below lib/, by private headers."""
    edges = defaultdict(set)
    for path in sorted(Path('lib').rglob('*.[ch]')):
        for header in INCLUDE.findall(path.read_text()):
            if (Path('lib') / header).exists():
                edges[str(path)].add('lib/' + header)
    return edges


def read_public_headers():
    """The library of each public header, from the Makemodule.am of the folders."""
    return {header: path.parent.name for path in Path('lib').glob('*/Makemodule.am')
            for header in re.findall(r'include/(loaderx/[a-z/-]+\.h)', path.read_text())}


def check_public_includes(table):
    """A library includes its own public headers and those of the libraries that it may use."""
    headers = read_public_headers()
    allowed = defaultdict(set)
    for module, others in table.items():
        allowed[module.split('/')[0]] |= {other.split('/')[0] for other in others}
    files = [(path, library_of(str(path))) for path in Path('lib').rglob('*.[ch]')]
    files += [(Path('include') / header, library) for header, library in headers.items()]
    return [f'{path} includes {header}: {library} must not use {headers[header]}'
            for path, library in sorted(files) if path.exists()
            for header in INCLUDE.findall(path.read_text())
            if header in headers and headers[header] not in allowed[library]]


def read_symbols(path):
    lines = subprocess.run([*shlex.split(os.environ.get('NM', 'nm')), '-P', path], check=True,
                           capture_output=True, text=True).stdout.splitlines()
    for line in lines:
        name, kind = line.split()[:2]
        yield name, kind


def read_objects(build):
    """The source below lib/ that defines each symbol, and the symbols that each source needs."""
    defined, needed = {}, defaultdict(set)
    for path in sorted(Path(build, 'lib').rglob('*.o')):
        folder = path.relative_to(build).parent
        folder = folder.parent if folder.name == '.libs' else folder
        # Automake puts the name of the library before that of the source.
        stem = re.sub(r'^lib[a-z0-9_]+_la-', '', path.stem)
        source = str(folder / stem) + '.c'
        # Skip objects of moved or deleted sources, and the build with planted faults.
        if not Path(source).exists() or '_faults_la-' in path.stem:
            continue
        for name, kind in read_symbols(path):
            if kind in 'BCDRTVW':
                defined.setdefault(name, source)
            elif kind == 'U':
                needed[source].add(name)
    return defined, needed


def check_declarations(defined):
    """A header declares the functions of the source of its name, and of no other."""
    return [f'{path} declares {name}, which {defined[name]} defines'
            for path in sorted(Path('lib').rglob('*.h'))
            for name in DECLARATION.findall(COMMENT.sub('', path.read_text()))
            if defined.get(name, str(path.with_suffix('.c'))) != str(path.with_suffix('.c'))]


def read_calls(defined, needed):
    """Edges between sources below lib/."""
    edges = defaultdict(set)
    for source, names in needed.items():
        for name in names & defined.keys():
            target = defined[name]
            # Every layer above may call the public functions of a library.
            public = not name.startswith('lx__') and library_of(source) != library_of(target)
            if target != source and not public:
                edges[source].add(target)
    return edges


def cycles(edges):
    """The strongly connected parts of more than one node, by Tarjan's algorithm."""
    number, low, stack, found = {}, {}, [], []

    def visit(node):
        number[node] = low[node] = len(number)
        stack.append(node)
        for other in sorted(edges.get(node, ())):
            if other not in number:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], number[other])
        if low[node] == number[node]:
            part = stack[stack.index(node):]
            del stack[stack.index(node):]
            if len(part) > 1:
                found.append(sorted(part))

    for node in sorted(edges):
        if node not in number:
            visit(node)
    return found


def library_of(path):
    return path.split('/')[1]


def module_of(path):
    return str(Path(path).parent)[len('lib/'):]


def check(word, edges, table):
    failures = []
    for source in sorted(edges):
        for target in sorted(edges[source]):
            module = module_of(source)
            if module not in table:
                failures.append(f'{module} is not in the table of layers')
            elif module_of(target) not in table[module]:
                failures.append(f'{source} {word} {target}: {module} must not use '
                                f'{module_of(target)}')
    for cycle in cycles(edges):
        failures.append(f'a cycle: each of these {word} another: {" ".join(cycle)}')
    return failures


def main():
    sys.setrecursionlimit(10000)
    table = read_table()
    defined, needed = read_objects(sys.argv[1])
    calls = read_calls(defined, needed)
    if not calls:
        print('no objects are built', file=sys.stderr)
        return 77
    failures = check_public_includes(table) + check_declarations(defined)
    failures += check('includes', read_includes(), table)
    failures += check('calls', calls, table)
    for failure in failures:
        print(failure, file=sys.stderr)
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())

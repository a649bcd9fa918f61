# SPDX-License-Identifier: MIT
"""Records what programs use of each shared library, and compares two records.

    abi.py record FOLDER            (environment: top_srcdir, top_builddir, CC, OBJDUMP)
    abi.py compare RECORDED BUILT   (two folders)

A record has a line for each symbol, struct, member, enum, enumerator, other type and constant of a
library: what programs have compiled in. A program that includes all public headers is compiled for
its debug information, so the libraries need none. Symbols for libraries of the same release
(LOADERX_PRIVATE) are no part of a record. Members named `reserved` are the only place of a struct
that new members may take: callers make structs, too, and padding can contain anything.
"""

import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

ADVICE = '''\
Programs built with a library as recorded would break with this one. Keep what they use: a function
with other parameters needs another name, and new members take the place of `reserved` ones.
 - If no release had what the record says, or if programs cannot depend on it (such as a limit that
   only the library checks), record the change: make abi-record.
 - Otherwise the next release needs another SONAME: see RELEASING.md.'''
ADDED = '''\
Additions keep programs working. Record them: make abi-record. RELEASING.md says which version node
new symbols need.'''

QUALIFIERS = {'const_type': 'const', 'volatile_type': 'volatile', 'restrict_type': 'restrict'}
ENTRY = re.compile(r' <(\d+)><([0-9a-f]+)>: Abbrev Number: \d+ \(DW_TAG_(\w+)\)')
ATTRIBUTE = re.compile(r' +<[0-9a-f]+> +DW_AT_(\w+) *: (?:\(.*?\): )?<?(?:0x)?(.*?)>?\s*$')
SYMBOL = re.compile(r'^[0-9a-f]+ g +D[FO] \S+\s+[0-9a-f]+ +(LOADERX_\w+) +(lx_\w+)$', re.MULTILINE)
# Not initializers, whose members are recorded.
CONSTANT = re.compile(r'#define (LX_(?!VERSION_)\w+) ([^_{].*)')
RESERVED = re.compile(r'at (\d+), uint64_t \[(\d+)\]')


def run(command, *arguments):
    return subprocess.run([*shlex.split(command), *arguments], check=True, stdout=subprocess.PIPE,
                          text=True, env={**os.environ, 'LC_ALL': 'C'}).stdout


class Entry:
    """An entry of the debug information, with its attributes as texts, and the entries in it."""

    def __init__(self, tag):
        self.tag, self.attributes, self.inner = tag, {}, []

    def __getattr__(self, name):
        return self.attributes.get(name)


def read_entries(path):
    """The entries of an object file by their offset, which attributes refer to."""
    entries, parents = {}, []
    for line in run(os.environ.get('OBJDUMP', 'objdump'), '--dwarf=info', path).splitlines():
        if match := ENTRY.match(line):
            depth = int(match[1])
            entries[match[2]] = entry = Entry(match[3])
            parents[depth:] = [entry]
            if depth:
                parents[depth - 1].inner.append(entry)
        elif (match := ATTRIBUTE.match(line)) and parents:
            parents[-1].attributes[match[1]] = match[2]
    return entries


def spell(entries, offset, declared=''):
    """What C declares as `declared` with the type at an offset; just the type if it is ''."""
    if offset is None:
        return f'void {declared}'.rstrip()
    entry = entries[offset]
    if entry.tag == 'pointer_type':
        target = entries.get(entry.type)
        binds = target and target.tag in ('array_type', 'subroutine_type')
        return spell(entries, entry.type, f'(*{declared})' if binds else f'*{declared}')
    if entry.tag in QUALIFIERS:
        word = QUALIFIERS[entry.tag]
        if entry.type and entries[entry.type].tag == 'pointer_type':
            return spell(entries, entry.type, f'{word} {declared}'.rstrip())
        return f'{word} {spell(entries, entry.type, declared)}'
    if entry.tag == 'array_type':
        return spell(entries, entry.type, declared + ''.join(map(extent, entry.inner)))
    if entry.tag == 'subroutine_type':
        parameters = [spell(entries, inner.type) if inner.tag == 'formal_parameter' else '...'
                      for inner in entry.inner]
        return spell(entries, entry.type, f'{declared}({", ".join(parameters) or "void"})')
    kind = {'structure_type': 'struct ', 'enumeration_type': 'enum ', 'union_type': 'union '}
    name = '_Bool' if entry.name == 'bool' else entry.name    # one type, which C23 calls bool
    return f'{kind.get(entry.tag, "")}{name} {declared}'.rstrip()


def extent(subrange):
    if subrange.count:
        return f'[{subrange.count}]'
    return f'[{int(subrange.upper_bound) + 1}]' if subrange.upper_bound else '[]'


def describe(entries, entry):
    """Yields the lines (key, value) of an entry: one for a symbol, several for a type."""
    name = entry.name or ''
    if entry.tag == 'variable' and name.startswith('abi_'):
        yield f'symbol {name[4:]}', spell(entries, entries[entry.type].type)
    if entry.declaration or not name.startswith('lx_'):
        return
    if entry.tag == 'typedef' and entries[entry.type].name != name:
        yield f'typedef {name}', spell(entries, entry.type)
    if entry.tag == 'enumeration_type':
        yield f'enum {name}', f'{entry.byte_size} bytes'
        for value in entry.inner:
            yield f'enum {name} {value.name}', value.const_value
    if entry.tag in ('structure_type', 'union_type'):
        yield f'struct {name}', f'{entry.byte_size} bytes'
        for member in entry.inner:
            place = f'at {member.data_member_location or 0}'
            yield f'struct {name} {member.name}', f'{place}, {spell(entries, member.type)}'


def read_libraries(source, build):
    """The name, the SONAME and the symbols, with their version nodes, of each folder's library."""
    objdump, libraries = os.environ.get('OBJDUMP', 'objdump'), {}
    for path in sorted(source.glob('lib/*/*.pc.in')):
        name = f'lib{path.name[:-len(".pc.in")]}'
        shared = build / f'.libs/{name}.so'
        if shared.exists():
            soname = re.search(r'SONAME +(\S+)', run(objdump, '-p', shared))[1]
            nodes = SYMBOL.findall(run(objdump, '-T', shared))
            symbols = {symbol: node for node, symbol in nodes if node != 'LOADERX_PRIVATE'}
            libraries[path.parent.name] = name, soname, symbols
    return libraries


def compile_program(folders, headers, symbols):
    """What the preprocessor and the compiler make of a program with all headers and symbols."""
    with tempfile.TemporaryDirectory() as work:
        program, compiled = Path(work, 'program.c'), Path(work, 'program.o')
        program.write_text(''.join(f'#include <{header}>\n' for header in headers) +
                           ''.join(f'__typeof__({name}) *abi_{name};\n' for name in symbols))
        cc = ' '.join([os.environ.get('CC', 'cc'), *(f'-I{folder}' for folder in folders)])
        run(cc, '-g', '-fno-eliminate-unused-debug-types', '-c', program, '-o', compiled)
        return run(cc, '-E', '-dD', program), read_entries(compiled)


def read_names(text):
    """The header of each name, and the values of constants, in the preprocessed program. It has no
    comments, and C declares names before it uses them: the first header with a name declares it.
    """
    headers, constants, header = {}, {}, None
    for line in text.splitlines():
        if match := re.match(r'# \d+ "(?:.*/include/)?(.*)"', line):
            header = match[1]
            continue
        for name in re.findall(r'\b(?:lx|LX)_\w+', line):
            headers.setdefault(name, header)
        if match := CONSTANT.fullmatch(line):
            constants[match[1]] = ' '.join(match[2].split())
    return headers, constants


def read_build(source, build, folders):
    """The lines of each library of the build: by the library's name, what a key is. `folders` has
    the folder of each public header."""
    libraries = read_libraries(source, build)
    if not libraries:
        skip('no shared libraries were built')
    include = source / 'include'
    headers = sorted(str(path.relative_to(include)) for path in include.glob('loaderx/**/*.h'))
    symbols = {symbol: (folder, node) for folder, (_, _, nodes) in libraries.items()
               for symbol, node in nodes.items()}
    text, entries = compile_program(
        [include, build / 'include'],
        [header for header in headers if folders.get(header, 'base') in libraries], symbols)
    if '#define __SIZEOF_POINTER__ 8\n' not in text:
        skip('the records are those of 64-bit machines')
    home, constants = read_names(text)
    lines = [(f'constant {name}', value) for name, value in constants.items()]
    lines += [line for entry in entries.values() for line in describe(entries, entry)]
    records = {name: {'soname': soname} for name, soname, _ in libraries.values()}
    # Members and enumerators stay in their order.
    for key, value in sorted(lines, key=lambda line: line[0].split()[:2]):
        name = key.split()[1]
        folder, node = symbols.get(name, (folders.get(home[name], 'base'), ''))
        records[libraries[folder][0]][key] = f'{node} {value}'.strip()
    return records


def record(folder):
    source, build = Path(os.environ['top_srcdir']), Path(os.environ['top_builddir'])
    sys.path.insert(0, str(source / 'tests/house'))
    from layers import read_public_headers
    os.chdir(source)
    for name, lines in read_build(source, build, read_public_headers()).items():
        text = ''.join(f'{key}: {value}\n' for key, value in lines.items())
        (folder / f'{name}.abi').write_text(text)


def read_record(path):
    lines = path.read_text().splitlines() if path.exists() else []
    return dict(line.split(': ', 1) for line in lines)


def is_kept(recorded, key, new):
    """Whether programs with the recorded library allow that a line was added or differs."""
    owner, _, member = key.rpartition(' ')
    if key in recorded:
        return member == 'reserved'    # the struct's size and new members tell the rest
    if not owner.startswith('struct ') or owner not in recorded:
        return True
    reserved = RESERVED.fullmatch(recorded.get(f'{owner} reserved', ''))
    begin, count = map(int, reserved.groups()) if reserved else (0, 0)
    return begin <= int(re.match(r'at (\d+)', new)[1]) < begin + 8 * count


def compare(recorded_folder, built_folder):
    """Prints how the build differs from the record; returns whether programs keep working."""
    kept = same = True
    for path in sorted(recorded_folder.glob('*.abi')):
        if not (built_folder / path.name).exists():
            print('not built, and not compared:', path.stem)
    for path in sorted(built_folder.glob('*.abi')):
        recorded, built = read_record(recorded_folder / path.name), read_record(path)
        for key in sorted({*recorded, *built}):
            old, new = recorded.get(key), built.get(key)
            if old == new:
                continue
            allowed = is_kept(recorded, key, new)
            print(f'{path.stem}: {key}:' if allowed else f'{path.stem}: broken: {key}:',
                  f'added: {new}' if old is None else f'removed: {old}' if new is None else
                  f'was {old}, is now {new}')
            same, kept = False, kept and allowed
    if not same:
        print(ADDED if kept else ADVICE)
    return kept


def skip(reason):
    print('skipped:', reason)
    sys.exit(77)


def main():
    command, *folders = sys.argv[1:]
    folders = [Path(folder).resolve() for folder in folders]
    if command == 'record':
        record(*folders)
    elif not compare(*folders):
        sys.exit(1)


if __name__ == '__main__':
    main()

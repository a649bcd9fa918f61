#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The states of version 1 that every release must read, made by orders.py, not by the library.

``states.py FOLDER`` compares the states in tests/data/states with the cases of state_cases.py, and
exits 1 if one differs or is missing; ``states.py --write FOLDER`` adds the missing ones. A saved
state never changes: a checkpoint of a user may contain it.

Each state has a line of samplers.json or loaders.json, an object: the ``order``, and the ``source``
of a loader, as orders.py describes them, with their tables; the ``state``; and the ``indices`` that
come after it, all ranks together.
"""
import json
import os
import sys

from orders import crc32c, entries, in_state, indices, text, to_json
from state_cases import loaders, orders

COUNT = 40  # indices after a state
KINDS = 'loaders', 'samplers'


def closed(state):
    """A state with its checksum."""
    state = to_json(state)
    return {**state, 'crc32c': crc32c(text(state))}


def words(numbers):
    """Numbers as words of 8 bytes."""
    return b''.join(number.to_bytes(8, 'little') for number in numbers)


def source_in_state(source):
    """A source in the form of states: without tables and lists."""
    apart = ('table', 'dataset', 'column', 'document_lengths', 'all_lengths',
             'file_names', 'record_offsets')
    state = {key: value for key, value in source.items() if key not in apart}
    if 'sources' in source:
        state['sources'] = [source_in_state(part) for part in source['sources']]
    if 'fields' in source:
        state['fields'] = [
            {**{key: value for key, value in field.items() if key != 'record_lengths'},
             'lengths': crc32c(words(field['record_lengths']))} for field in source['fields']]
    if 'table' in source:
        state['indices'] = crc32c(words(entries(source, 'table')))
    if 'document_lengths' in source:
        state['lengths'] = crc32c(words(source['document_lengths']))
    if 'record_offsets' in source:
        state['offsets'] = crc32c(words(source['record_offsets']))
    if 'file_names' in source:
        state['names'] = crc32c(b''.join(name.encode() + b'\0' for name in source['file_names']))
    return state


def indices_after(order, position):
    """The indices from there on."""
    return indices(order, position, 1, COUNT)


def of_samplers():
    """The states of samplers, by their names."""
    for name, order, position in orders():
        world = position % 4 + 1
        state = {'state': 'sampler', 'version': 1, 'position': position,
                 'rank': position % world, 'world': world, 'order': in_state(order)}
        yield 'samplers/' + name, {'order': to_json(order), 'state': closed(state),
                                   'indices': indices_after(order, position)}


def of_loaders():
    """The states of loaders, by their names."""
    for name, source, datasets, order, position in loaders():
        state = {'state': 'loader', 'version': 1, 'position': position, 'order': in_state(order),
                 'source': source_in_state(source), 'datasets': datasets,
                 'batch_size': position % 9 + 1, 'world': position % 4 + 1,
                 'threads': position % 3}
        yield 'loaders/' + name, {'order': to_json(order), 'source': to_json(source),
                                  'state': closed(state), 'indices': indices_after(order, position)}


def read(folder):
    """The saved states, by their names."""
    kept = {}
    for kind in KINDS:
        with open(os.path.join(folder, kind + '.json')) as file:
            kept.update((kind + '/' + name, case) for name, case in json.load(file).items())
    return kept


def write(folder, kept):
    """Write each kind into a file, with a line for each state."""
    for kind in KINDS:
        lines = [json.dumps(name[len(kind) + 1:]) + ': ' + json.dumps(kept[name])
                 for name in sorted(kept) if name.startswith(kind + '/')]
        with open(os.path.join(folder, kind + '.json'), 'w') as file:
            file.write('{\n' + ',\n'.join(lines) + '\n}\n')


def difference(kept, name, case):
    """The error in a state, or None."""
    if name not in kept:
        return name + ' is not kept: "states.py --write FOLDER" adds it'
    if kept[name] != case:
        return name + ' differs from its case: neither may change, add another case'
    return None


def main(arguments):
    """Write or check."""
    cases = dict([*of_samplers(), *of_loaders()])
    folder = arguments[-1]
    kept = read(folder)
    if arguments[0] == '--write':
        write(folder, {**cases, **kept})
        return 0
    found = [difference(kept, name, case) for name, case in cases.items()]
    found += [name + ' has no case in state_cases.py' for name in sorted(kept.keys() - cases)]
    found = [line for line in found if line]
    for line in found:
        print(line)
    print(len(cases), 'states,', len(found), 'differ')
    return 1 if found else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))

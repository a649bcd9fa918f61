# SPDX-License-Identifier: MIT
"""Changes of the schema: a field is added, dropped, or gets another name. The log stays.

Each begins with a synced commit, as every switch does: else a loss of power could take a commit
back and leave the change that came after it.
"""

from .layout import new_field
from .records import MISSING
from .switch import Switch


def begin(writer, begun):
    synced = 'schemaearly' not in writer.faults
    writer.commit(bulk=synced, synced=synced)
    begun()


def add_field(writer, name, begun):
    """A field whose values are all missing: tables of zeros, as long as the others."""
    begin(writer, begun)
    field = new_field(writer.meta, name, writer.faults)
    switch = Switch(writer, field.stem)
    rows = writer.state.length if 'addshort' in writer.faults else writer.state.rows
    switch.make_table(field, writer.state.tables, [MISSING] * rows)
    fields = [*writer.meta['fields'], field]
    switch.commit(dict(writer.meta, fields=fields, next_field=field.id + 1))


def drop_field(writer, position, begun):
    begin(writer, begun)
    fields = [field for k, field in enumerate(writer.meta['fields']) if k != position]
    Switch(writer).commit(dict(writer.meta, fields=fields))


def rename_field(writer, position, name, begun):
    """Only the name changes."""
    begin(writer, begun)
    number, _, stem = writer.meta['fields'][position]
    fields = list(writer.meta['fields'])
    fields[position] = number, name, stem
    Switch(writer).commit(dict(writer.meta, fields=fields))

# SPDX-License-Identifier: MIT
"""Changes of the schema: a field is added, dropped or renamed. The log stays.

Each begins with a synced commit, as every installation does: otherwise a power loss could undo a
commit and keep the change that followed it.
"""

from .layout import new_field
from .records import MISSING
from .install import Install


def begin(writer, begun):
    synced = 'schemaearly' not in writer.faults
    writer.commit(bulk=synced, synced=synced)
    begun()


def add_field(writer, name, begun):
    """Add a field with only missing values: its tables are zeros, as long as the others."""
    begin(writer, begun)
    field = new_field(writer.meta, name, writer.faults)
    install = Install(writer, field.stem)
    rows = writer.state.length if 'addshort' in writer.faults else writer.state.rows
    install.make_table(field, writer.state.tables, [MISSING] * rows)
    fields, complete = [*writer.meta['fields'], field], writer.meta['complete']
    if not writer.state.length or 'addcomplete' in writer.faults:
        complete = [*complete, field.id]
    install.commit(dict(writer.meta, fields=fields, next_field=field.id + 1, complete=complete))


def drop_field(writer, position, begun):
    begin(writer, begun)
    fields = [field for k, field in enumerate(writer.meta['fields']) if k != position]
    Install(writer).commit(dict(writer.meta, fields=fields))


def rename_field(writer, position, name, begun):
    """Change only the name."""
    begin(writer, begun)
    number, _, stem = writer.meta['fields'][position]
    fields = list(writer.meta['fields'])
    fields[position] = number, name, stem
    Install(writer).commit(dict(writer.meta, fields=fields))

# SPDX-License-Identifier: MIT
"""The operations of a writer's process, drawn from a random stream of their own.

The same stream from the same snapshot gives the same operations in the same commits, as in a job
that failed and is started again.
"""

NAMES = ('image', 'label', 'a', 'b', 'c')
FIELDS_AT_MOST = 4


class Content:
    """The expected dataset; `freeze` returns it in the form of `Handle.content`."""

    def __init__(self, frozen):
        self.names = list(frozen[0])
        self.records = list(frozen[1])

    def freeze(self):
        return tuple(self.names), tuple(self.records)

    def added(self, name):
        return (*self.names, name), tuple((*record, None) for record in self.records)

    def dropped(self, position):
        return without(self.names, position), tuple(without(record, position)
                                                    for record in self.records)

    def renamed(self, position, name):
        return (*self.names[:position], name, *self.names[position + 1:]), tuple(self.records)


def without(values, position):
    return tuple(values[:position]) + tuple(values[position + 1:])


def draw_value(ops, first):
    """An empty, inline or stored value; missing only if it is not of the first field."""
    if first:
        low, high = ops.choice(((0, 0), (1, 8), (9, 60), (9, 300), (9, 300)))
        return bytes([ops.randrange(1, 256)]) * ops.randint(low, high)
    return None if ops.random() < .15 else bytes([ops.randrange(256)]) * ops.randint(1, 20)


def draw_record(ops, current):
    return tuple(draw_value(ops, k == 0) for k in range(len(current.names)))


def append(writer, current, record):
    writer.append(record)
    current.records.append(record)


def modify(writer, current, index, field, value):
    """`field` is a position."""
    writer.modify(index, field, value)
    record = list(current.records[index])
    record[field] = value
    current.records[index] = tuple(record)


def delete(writer, current, index):
    writer.delete(index)
    current.records[index] = current.records[-1]
    current.records.pop()


def truncate(writer, current, length):
    writer.truncate(length)
    del current.records[length:]


def operate(writer, current, ops):
    """Perform one operation on the writer and on `current`, the expected records."""
    kind, record, count = ops.random(), draw_record(ops, current), len(current.records)
    if count < 2 or kind < .55:
        append(writer, current, record)
    elif kind < .78:
        field = ops.randrange(len(current.names))
        modify(writer, current, ops.randrange(count), field, record[field])
    elif kind < .97:
        delete(writer, current, ops.randrange(count))
    else:
        truncate(writer, current, ops.randrange(count // 2, count))

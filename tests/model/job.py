# SPDX-License-Identifier: MIT
"""What a writer's process does between opening and its end, drawn from a random stream of its own.

The same stream from the same state gives the same operations in the same commits: a job that
failed and is started again.
"""

from .layout import FIELDS


def draw_record(ops):
    return draw_image(ops), draw_label(ops)


def draw_image(ops):
    """Empty, inline, or stored; never missing."""
    low, high = ops.choice(((0, 0), (1, 8), (9, 60), (9, 300), (9, 300)))
    return bytes([ops.randrange(1, 256)]) * ops.randint(low, high)


def draw_label(ops):
    """Missing, inline, or stored."""
    return None if ops.random() < .15 else bytes([ops.randrange(256)]) * ops.randint(1, 20)


def append(writer, current, record):
    writer.append(record)
    current.append(record)


def modify(writer, current, index, field, value):
    writer.modify(index, field, value)
    current[index] = tuple(value if k == field else current[index][k] for k in range(len(FIELDS)))


def delete(writer, current, index):
    writer.delete(index)
    current[index] = current[-1]
    current.pop()


def operate(writer, current, ops):
    """One operation, on the writer and on `current`, the records as they should be."""
    kind, record = ops.random(), draw_record(ops)
    if len(current) < 2 or kind < .55:
        append(writer, current, record)
    elif kind < .8:
        field = ops.randrange(len(FIELDS))
        modify(writer, current, ops.randrange(len(current)), field, record[field])
    else:
        delete(writer, current, ops.randrange(len(current)))

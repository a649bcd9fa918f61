# SPDX-License-Identifier: MIT
"""Crash model of zrecord's commit protocol.

A small implementation of zrecord (creation, writer, reader, sealing) on a simulated disk that loses
unsynced data. It tests the *order* of the steps of the protocol, independently of the C code. The
bytes of the log, of the tables and of the entries are those of ``doc/zrecord-format.md``.

Modelled
    creation, retried and over an older dataset; two fields and more, with a table pair each;
    inline, empty, missing and stored values; append, modify, delete by swap, truncate; one to four
    flush tasks that write chunks ahead of the commit, and rollback; small commits (updates in the
    frame) and large ones (rows in the tables) with full, periodic and no durability; log rotation,
    WAL checkpoint and rebalance; fields that are added, dropped and renamed; sealing with and
    without a new generation, and unsealing; removal of obsolete files; kills at every system call
    and inside writes; a full disk; power losses that keep any part of the unsynced data and
    directory entries; failing syncs, after which the page cache may or may not keep the data; a
    file system that is detached and attached again within one boot; a known and an unknown boot id;
    readers that open, stay pinned, keep views and refresh between any two steps of the writer;
    damaged bits in the log and in payloads.

Not modelled
    threads, compression, dictionaries, several writers (the lock prevents them), network file
    systems, memory maps (a read sees the current page cache). CRC-32 takes the place of CRC-32C. A
    failed fsync of a directory leaves its entries pending: file systems journal them, and stop when
    the journal fails.

Modules, from the bottom: `disk` (files and directories), `records` (entries), `log` (frames, their
validity, replay), `layout` (names, meta.json), `handle` (the common part of writer and reader),
`create`, `write_buffers` (and flush tasks), `change` (the effect of operations), `orphans`,
`recovery`, `writer`, `install`, `generations`, `schema`, `seal`, `reader`; then `history` (the
oracle), `job`, `session`, `maintenance`, `machine` and `rot` (events), `play` (random runs),
`sweep` (scripts killed at every step), `scenario`, `scenarios_*` and `directed`, and `faults` (the
planted faults). doc/commit-model.md reports the results.
"""

# SPDX-License-Identifier: MIT
"""Crash model of zrecord's commit protocol.

A small writer, reader, creation and sealing of a zrecord dataset, written over a disk that loses
things, so that the *order* of the protocol's steps can be tried out before (and beside) the C
code that takes them. The bytes of the log, of the tables and of the entries are those of
``doc/zrecord-format.md``.

Modelled
    creation, retried and over an older dataset; two fields and more, with a table pair each;
    inline, empty, missing and stored values; append, modify, delete by swap, truncate; one to four
    lanes that write chunks, ahead of what is committed, and rollback; commits small (sets in the
    frame) and large (rows in the tables) under full, periodic and no durability; restart, fold and
    rebalance; fields that are added, dropped and renamed; sealing with and without a new
    generation, and unsealing; removal of old files; kills at every system call and inside writes;
    a full disk; power losses that keep any part of what was not synced, directory entries too;
    failing syncs, after which the page cache may or may not keep what was lost; a file system that
    goes away and comes back within one boot; a known and an unknown boot id; readers that open,
    stay pinned, keep views and refresh between any two steps of the writer; rot of the log and of
    payloads.

Not modelled
    threads, compression, dictionaries, several writers (the lock keeps them out), network file
    systems, memory maps (a read sees the page cache as it is), plain CRC-32 stands for CRC-32C. A
    failed fsync of a directory leaves its entries pending: file systems journal them, and stop
    when the journal fails.

Modules, from the bottom: `disk` (files and directories), `records` (entries), `log` (frames, trust,
replay), `layout` (names, meta.json), `handle` (what writer and reader share), `create`, `stages`
(lanes), `change` (what operations make of a state), `leftovers`, `recovery`, `writer`, `switch`,
`generations`, `schema`, `seal`, `reader`; then `history` (what may be seen), `job`, `session`,
`upkeep`, `fate` and `rot` (what happens), `play` (random runs), `sweep` (scripts killed at every
step), `scene`, `scenes_*` and `directed` (scenarios) and `faults` (what is planted).
doc/commit-model.md reports what came out.
"""

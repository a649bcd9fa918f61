# SPDX-License-Identifier: MIT
"""Why loaderx is not ahead in some jobs, and does not reach some goals."""

# What the faster way does, by the beginnings of the titles of jobs. The longest counts.
REMARKS = {
    'warm random gather of 64-byte records':
        'the loop multiplies the index by the size of a record. The store reads 16 bytes of a '
        'table for each record, which is another miss of the cache, and a bit that says whether '
        'the record was verified.',
    'warm random gather of 256-byte records':
        'as for 64 bytes; the larger the record, the less the table matters.',
    'open of a sealed dataset':
        'the loop maps one file. Opening reads and checks meta.json, maps all tables and checks '
        'their sizes, and takes the lock that keeps files until the reader has left. It does not '
        'grow with the number of records.',
    'append of':
        'one plain file has neither checksums nor tables, and nothing in it can be found again '
        'or committed. The first row also computes the checksums and writes 24 bytes a record in '
        'tables, in three files; the store also creates, syncs and removes a folder of six files.',
    'texts of 1.3 KB, raw':
        'nothing is decoded here, so that the rest counts. The loop has the address and size of '
        'each text in memory. The store looks up the entries of a batch, returns the sizes, so '
        'that the caller can allocate, and then copies.',
    'shuffle of 65536':
        'the table fits in the cache. The store shuffles a table, too, but with numbers that are '
        'computed from the seed and the position, and it copies the indices to the caller.',
    'shuffle of 1000000':
        'the table fits in the cache. The store has no table, so that the first index costs as '
        'much as any other, and neither memory nor time grows with the length.',
    'cold random reads':
        'io_uring with O_DIRECT copies no page, and 64 threads only read. The store reads through '
        'the page cache, so that the next epoch finds what fits in memory; that takes 7 us of a '
        'processor for 4 KiB and 56 us for 128 KiB instead of 3.4 and 24, which counts if the '
        'processors have other work.',
    'opening after a crash':
        'the loop only reads the log. Opening also makes a table in memory of the million changes '
        'in it; opening to write also syncs what the process that was killed had not synced.',
    'commits of 10000 records':
        'two files, or LMDB, write each byte once. The store also computes checksums, and writes '
        'an entry for each record to its log and, later, to its tables.',
    'commits of':
        'LMDB and the log of SQLite sync one file; the store syncs the values and then the log '
        'that refers to them. Times of a sync vary from round to round more than between the '
        'ways.',
    'changes of':
        'the loop writes the same bytes one after the other. The store also finds the entry of '
        'each changed record, keeps an index of the changes for readers, and writes them into its '
        'tables when the log is long.',
    'shuffled 28x28 images':
        'NumPy is given the indices of each batch, and writes to memory that the next batch uses '
        'again. The loader computes the order, checks that records were verified, and passes '
        'batches from its threads to the caller; with other work on both processors, its threads '
        'wait for one.',
    'append of records':
        'NumPy writes one array in one call, and HDF5 does nearly the same: no record has a '
        'checksum or an entry of its own, and the file is not synced.',
    'one text of 1.3 KB at a time':
        'bagz and LMDB return the bytes of a record from their mapping, in one call of C. The '
        'store first finds the field of that name, the snapshot and the codec, and checks that '
        'the text was verified.',
    'one scalar at a time':
        'NumPy computes an address in memory. The store looks the record up in the table of the '
        'current snapshot, and checks that it was verified.',
    'tensors of 224 x 224':
        'decoding takes nearly all of the time. A part of .08 to 1 of the area is decoded, but a '
        'JPEG file can be entered only at its beginning: the entropy coding of all rows above the '
        'part is undone, too. What is saved pays for resizing and normalizing.',
}

# What limits loaderx, by the names of goals.
GOALS = {
    'warm epoch, speed / local dataset':
        'a local dataset is mapped. Files of a cache are read, which copies once more, so that a '
        'disk that fails is an error and not a signal',
    'processor seconds a GB, cold':
        'curl throws away what it receives; loaderx also stores it, reads it, and computes a '
        'checksum of each page and each value',
    'slowest step at the end of an epoch / median':
        'the largest of all ends: 1.7 to 6.9 in five runs. Only the first step of an epoch waits, '
        'mostly 0.02 s, and at one end of eight or so 0.1 to 0.5 s',
    'cold rate / link':
        'includes opening, and the time until new connections are fast: half a second of an epoch',
    'first batch without its records, round trips':
        'the blocks of all lanes are fetched as a whole, each with one request: once a run',
    'first batch without its blocks, round trips':
        'includes opening, and the time until new connections are fast',
}

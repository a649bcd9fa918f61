/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Datasets made by hand with valid checksums: a test chooses their hostile content.
 */
#ifndef LX_TESTS_FAULTS_FORGE_H
#define LX_TESTS_FAULTS_FORGE_H

#include "support.h"
#include "zrecord/wal/frame.h"

/** The uuid of all datasets, and its text in meta.json. */
extern const uint8_t forge_uuid[16];
#define FORGE_UUID "00112233-4455-6677-8899-aabbccddeeff"

struct forge {
    const char *path;
    lx__wal_identity identity;
    lx__frame_builder builder;
    uint64_t offset; /**< Of the next frame. */
    uint64_t sequence;
    uint32_t crc;
};

/** Makes the directory, `chunk` in it, LOCK, meta.json, and LOG with its first frame. */
void forge_begin(struct forge *forge, const char *path, const char *meta, size_t size);
void forge_end(struct forge *forge);

/** meta.json of @p count fields of bytes, named f0, f1 ..; with @p compress "raw", "flate", "zstd".
 * For free(). */
char *forge_meta(size_t count, const char *compress);

/** Adds a frame with the numbers of @p frame; its chunk items and updates are @p items. */
void forge_frame(struct forge *forge, lx__frame frame, const lx__chunk_item *chunks,
                 size_t chunk_count, const lx__update_item *updates, size_t update_count);

/** Makes a file, with a hole after the bytes up to @p length. */
void forge_file(const struct forge *forge, const char *name, const void *data, size_t size,
                uint64_t length);

/** Gives an entry of field @p field the checksum of its stored bytes, in row @p index. */
void forge_seal(lx__entry *entry, uint32_t field, const void *stored, uint64_t index);

/** Makes the tables of field f0 of these entries. */
void forge_tables(const struct forge *forge, const lx__entry *entries, size_t count);

#endif

/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A joined dataset, as a join of two parts, one of them joined itself, leaves it.
 */
#ifndef LX_TESTS_JOINED_H
#define LX_TESTS_JOINED_H

#include "records.h"
#include "zrecord/format/meta-file.h"

/** Its first chunk, and one in a part of a part. */
#define OUTER "part/a/chunk/7.zr"
#define INNER "part/b/part/x/chunk/0.zr"

static inline void joined_folder(const char *path, const char *name)
{
    ck_assert(mkdir(in(path, name), 0777) == 0);
}

static inline void joined_move(const char *path, const char *from, const char *to)
{
    char *old = strdup(in(path, from));
    ck_assert_int_eq(rename(old, in(path, to)), 0);
    free(old);
}

/** Makes a sealed dataset of several chunks, and moves them to parts. It has no folder for its own
 * chunks. */
static inline void records_make_joined(const char *path, uint64_t length)
{
    static const lx__chunk_run runs[] = {{0, 7, 1, "part/a"}, {1, 0, 2, "part/b/part/x"}};
    static const char *const folders[] = {"part",   "part/a",      "part/a/chunk",
                                          "part/b", "part/b/part", "part/b/part/x"};
    lx_error error = LX_ERROR_INIT;
    lx__file directory;
    lx__meta meta;
    lx_writer_options *options = writer_options(LX_DURABILITY_FULL);
    unit_ok(lx_writer_options_set_chunk_limits(options, 5 * length / 4, 1 << 20, &error));
    lx_writer *writer = records_create(path, options);
    records_append(writer, length);
    unit_ok(lx_writer_seal(writer, &error));
    close_writer(writer);
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        joined_folder(path, folders[i]);
    ck_assert_uint_eq(directory_count(in(path, "chunk")), 3);
    joined_move(path, "chunk/0.zr", OUTER);
    joined_move(path, "chunk/1.zr", "chunk/0.zr");
    joined_move(path, "chunk/2.zr", "chunk/1.zr");
    joined_move(path, "chunk", "part/b/part/x/chunk");
    unit_ok(lx__directory_open(&directory, LX__CWD, path, &error));
    unit_ok(lx__meta_load(&meta, &directory, &error));
    unit_ok(lx__meta_set_parts(&meta, runs, 2, &error));
    unit_ok(lx__meta_replace(&meta, &directory, &error));
    lx__meta_free(&meta);
    lx__file_close(&directory);
}

#endif

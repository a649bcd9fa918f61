/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief A meta.json at a URL, or the meta.json.new of a push that has not ended.
 */
#ifndef LX_REMOTE_META_H
#define LX_REMOTE_META_H

#include "remote/push/file-list.h"
#include "remote/push/target.h"
#include "zrecord/format/meta.h"

typedef struct lx__remote_meta {
    bool exists;
    bool is_claim; /**< It is a meta.json.new. */
    char *text;
    size_t size;
    lx__meta meta;
    lx__remote_info info;
} lx__remote_meta;

/** Reads the file @p name, which need not exist, instead of what @p self has. */
lx_status lx__remote_meta_read(lx__remote_meta *self, lx__target *target, const char *name,
                               lx_error *error);

/** Frees what was read; does nothing if @p self is zeroed. */
void lx__remote_meta_free(lx__remote_meta *self);

/** Whether the file exists and contains this text. */
bool lx__remote_meta_is(const lx__remote_meta *self, const char *text, size_t size);

/** Whether both files contain the same, or neither exists. */
bool lx__remote_meta_equals(const lx__remote_meta *self, const lx__remote_meta *other);

/** Fails with #LX_ERR_EXISTS if the file is that of another dataset than @p ours. */
lx_status lx__remote_meta_check(const lx__remote_meta *self, const lx__meta *ours, const char *url,
                                lx_error *error);

/** Whether the generation has this file, with the same contents. Chunks, logs and dictionaries of a
 * dataset only grow, so they are known by their length; tables, by their checksum. */
bool lx__remote_meta_has(const lx__remote_meta *self, const lx__listed_file *file);

/** Whether the generation has a file of this name, with other contents. */
bool lx__remote_meta_differs(const lx__remote_meta *self, const lx__listed_file *file);

#endif

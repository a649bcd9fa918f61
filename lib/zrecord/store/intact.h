/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Whether what frames name is still there, for frames whose data may not be durable.
 *
 * A kill leaves frames that were never synced whole, since the kernel has their data; but a sync
 * that failed, or a disk that was pulled and put back, can lose pages within one boot; and a writer
 * that wrote back what is left would make the loss permanent. doc/commit-model.md tells of the case.
 */
#ifndef LX_ZRECORD_INTACT_H
#define LX_ZRECORD_INTACT_H

#include "zrecord/store/log.h"
#include "zrecord/store/state.h"

/** Where to look. */
typedef struct lx__intact_place {
    const lx__file *directory;
    const lx__file *chunk_directory;
    const lx_schema *schema; /**< All fields. */
    const uint8_t *uuid;
} lx__intact_place;

/**
 * Follows the frames from @p from, the settled state, up to @p until, and checks that the chunks of
 * each are there and long enough, and that every value of its sets and of the rows that it takes
 * passes its checksum, unless it is one that @p from has. @p end is where the first frame starts
 * that does not.
 */
lx_status lx__intact_end(const lx__intact_place *place, lx__log_reader *log,
                         const lx__state *from, uint64_t until, uint64_t *end, lx_error *error);

#endif

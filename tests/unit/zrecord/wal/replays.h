/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Replays of logs of frames.h.
 */
#ifndef LX_TESTS_REPLAYS_H
#define LX_TESTS_REPLAYS_H

#include "../frames.h"
#include "zrecord/wal/replay.h"

/** Entries that are distinguished by a letter. */
#define ENTRY(letter)                                                                              \
    {                                                                                              \
        0xffffffff, 1, letter, 1, 0                                                                \
    }

/** A schema of three fields with the ids 0, 1 and 2. */
static inline lx_schema *three_fields(void)
{
    lx_error error = LX_ERROR_INIT;
    lx_schema *schema = lx_schema_new();
    unit_ok(lx_schema_add_field(schema, "a", LX_BYTES, NULL, 0, LX_COMPRESSION_RAW, &error));
    unit_ok(lx_schema_add_field(schema, "b", LX_BYTES, NULL, 0, LX_COMPRESSION_RAW, &error));
    unit_ok(lx_schema_add_field(schema, "c", LX_BYTES, NULL, 0, LX_COMPRESSION_RAW, &error));
    return schema;
}

/** Replays the log into @p state, to its end. */
static inline lx_status replay(lx__state *state, const struct log *log, lx__replay which,
                               lx_error *error)
{
    lx_schema *schema = three_fields();
    lx__wal_reader reader = log_put(log);
    lx_status status = lx__state_replay(state, &reader, schema, which, NULL, error);
    lx__wal_close(&reader);
    lx_schema_free(schema);
    return status;
}

#endif

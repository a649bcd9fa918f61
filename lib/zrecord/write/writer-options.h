/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The options of a writer.
 */
#ifndef LX_ZRECORD_WRITER_OPTIONS_H
#define LX_ZRECORD_WRITER_OPTIONS_H

#include <jansson.h>

#include <loaderx/writer.h>

struct lx_writer_options {
    lx_durability durability;
    uint64_t chunk_records;
    uint64_t chunk_bytes;
    int level;        /**< Of fields that have none of their own; 0: the default of the codec. */
    json_t *card;     /**< For lx_writer_create(); NULL: none. */
    bool keeps_files; /**< For repairs: files keep the bytes that are not committed. */
    lx_executor *executor; /**< Owned reference; NULL: the writer opens its own. */
};

/** The options of a writer that is opened without options. */
extern const lx_writer_options lx__writer_defaults;

#endif

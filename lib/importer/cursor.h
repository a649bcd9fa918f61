/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Reads the records of one input after another, reports progress, and decides what to do
 * about bad records.
 */
#ifndef LX_IMPORTER_CURSOR_H
#define LX_IMPORTER_CURSOR_H

#include "importer/importer.h"

/** No other record is sampled after so many bytes of an input. */
#define LX__CURSOR_SAMPLE_BYTES ((uint64_t)4 << 20)

/** What a cursor is for. */
typedef enum lx__cursor_purpose {
    LX__CURSOR_SAMPLE, /**< To see the first records: bad records are not listed, and the input can
                            be read again. */
    LX__CURSOR_IMPORT  /**< To import. */
} lx__cursor_purpose;

/** A cursor. */
typedef struct lx__cursor {
    lx_importer *importer;
    const lx__class_labels *labels; /**< Borrowed; for formats that have classes. */
    lx__cursor_purpose purpose;
    lx__input input;
    bool opened;          /**< @ref input is open at its beginning, ready for lx__cursor_open(). */
    size_t number_opened; /**< The number of that input. */
    const char *path;
    lx__import_reader *reader; /**< NULL: the input could not be opened, and was passed over. */
    uint64_t number;           /**< Of the next record in the input. */
    uint64_t hidden;           /**< Names that the import left out because they begin with a dot. */
    uint64_t bad;              /**< Records that were passed over in samples. */
    lx_error first_bad;        /**< Of the first of them. */
    lx__import_record record;
    uint64_t before; /**< Bytes of the inputs before this one. */
    uint64_t total;  /**< Bytes of all inputs; LX_NONE: unknown. */
    uint64_t next;   /**< Bytes at which progress is reported again. */
} lx__cursor;

/** Initializes a cursor; @p labels is borrowed, and @p total is for progress. */
void lx__cursor_init(lx__cursor *self, lx_importer *importer, const lx__class_labels *labels,
                     uint64_t total);

/** Opens an input. Call lx__cursor_close() afterwards, even on failure. */
lx_status lx__cursor_open(lx__cursor *self, size_t input, lx__cursor_purpose purpose,
                          lx_error *error);

/** Reads the next record into self->record; LX_END at the end of the input. */
lx_status lx__cursor_next(lx__cursor *self, lx_error *error);

/** How far the input was read, in bytes after decompression. */
uint64_t lx__cursor_place(const lx__cursor *self);

/** Treats the record that was read last as bad, because of @p why: LX_OK if it is to be passed
 * over. */
lx_status lx__cursor_refuse(lx__cursor *self, lx_error *why, lx_error *error);

/** Closes the input. After a sample, an input that can be read only once stays open, and is read
 * from its beginning by the next lx__cursor_open(). */
void lx__cursor_close(lx__cursor *self);

/** Frees what is still open. */
void lx__cursor_free(lx__cursor *self);

#endif

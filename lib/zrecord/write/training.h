/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Trains dictionaries: on values that are being appended, or on given samples.
 *
 * A value that was stored before the dictionary existed stays as it is: its frame does not name a
 * dictionary (doc/zrecord-format.md, 6.4).
 */
#ifndef LX_ZRECORD_TRAINING_H
#define LX_ZRECORD_TRAINING_H

#include "zrecord/format/meta.h"

/** Samples of the values of one field, one after another. */
typedef struct lx__samples {
    size_t field;        /**< Position in the schema. */
    uint32_t dictionary; /**< Maximum size of the dictionary. */
    size_t wanted;       /**< The samples are enough when they have this many bytes. */
    uint8_t *data;
    size_t used; /**< Number of bytes at @ref data. */
    size_t *sizes;
    size_t count, size_capacity;
} lx__samples;

/** The fields for which a writer collects samples. */
typedef struct lx__training {
    lx__samples *fields;
    size_t count;
    bool due; /**< The samples of a field are enough. */
} lx__training;

/** Prepares samples for a dictionary of up to @p dictionary bytes. */
void lx__samples_begin(lx__samples *samples, size_t field, uint32_t dictionary);

/** Adds a value, or the beginning of a long one. Values that are stored inline are left out. Does
 * nothing if the samples are enough. Returns false if out of memory. */
bool lx__samples_add(lx__samples *samples, const void *data, uint64_t size);

void lx__samples_end(lx__samples *samples);

/** Whether the samples are enough. */
static inline bool lx__samples_are_enough(const lx__samples *samples)
{
    return samples->used >= samples->wanted;
}

/** Begins to collect samples for each field that is to get a dictionary. If memory runs out, no
 * samples are collected: a later writer will train the dictionaries. */
void lx__training_begin(lx__training *training, const lx__meta *meta);
void lx__training_end(lx__training *training);

/** Takes a value that is being appended as a sample. */
void lx__training_take(lx__training *training, size_t field, const void *data, uint64_t size);

/** Whether samples of this field are being collected. */
bool lx__training_has(const lx__training *training, size_t field);

/** Trains the dictionaries for which there are enough samples. All values added so far are
 * compressed without them, and all later values with them, regardless of the number of threads that
 * compress values. */
lx_status lx__training_run(lx_writer *writer, lx_error *error);

/** Logs a warning for each field of whose values there were some, but too few for a dictionary. */
void lx__training_warn(const lx_writer *writer);

/**
 * Trains a dictionary on samples and gives it to their field. No flush may be running.
 * @retval LX_ERR_STATE     The samples are not suitable.
 * @retval LX_ERR_POISONED  A sync failed, or it is unknown which meta.json is on disk.
 */
lx_status lx__dictionary_install(lx_writer *writer, const lx__samples *samples, lx_error *error);

#endif

/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The file that contains the dictionary of a field.
 */
#ifndef LX_ZRECORD_DICTIONARY_FILE_H
#define LX_ZRECORD_DICTIONARY_FILE_H

#include "base/file.h"
#include "zrecord/format/codec.h"
#include "zrecord/format/meta.h"

/**
 * Reads the dictionary of the field with the stem @p stem, and checks it against meta.json.
 *
 * @param directory  The directory of the dataset.
 * @param sum        The size and the checksum in meta.json.
 * @param[out] data  Receives as many bytes as @p sum says, for lx__free(); NULL on failure.
 * @retval LX_ERR_CORRUPT  The file is absent, or is not the dictionary that meta.json describes.
 */
lx_status lx__dictionary_read(const lx__file *directory, const char *stem, const lx__dict *sum,
                              uint8_t **data, lx_error *error);

/**
 * Makes the dictionary that lx__dictionary_read() reads.
 *
 * @param level      The level to compress with; 0: the dictionary is only for decompression.
 * @param[out] dictionary  Receives the dictionary, or NULL if this library lacks the codec, in
 *                         which case only the size and the checksum are checked.
 * @retval LX_ERR_CORRUPT  The file is absent, or is not the dictionary that meta.json describes.
 */
lx_status lx__dictionary_load(const lx__file *directory, const char *stem, const lx__dict *sum,
                              const lx__codec *codec, int level, lx__dictionary **dictionary,
                              lx_error *error);

#endif

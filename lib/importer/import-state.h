/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The entry #LX_CARD_IMPORT of a dataset's card, from which an interrupted import continues.
 *
 * The entry is a JSON text. It is rewritten before each commit of the import, so it says in which
 * two states the dataset can be: that before the commit, and that after it. If the length of the
 * dataset is neither of the two, or if records were replaced or deleted, others have changed it, and
 * its length no longer says how far the import got. The imports of Python
 * (loaderx/_import_state.py) write the same entry.
 */
#ifndef LX_IMPORTER_IMPORT_STATE_H
#define LX_IMPORTER_IMPORT_STATE_H

#include <stdint.h>

#include <loaderx/status.h>

/** How far an import is. */
typedef struct lx__import_point {
    uint64_t length; /**< Of the dataset. */
    uint64_t inputs; /**< That are complete. */
    uint64_t before; /**< Length of the dataset when the next input began. */
    uint64_t bad;    /**< Records of the complete inputs that were skipped. */
} lx__import_point;

typedef struct lx__import_state {
    uint64_t digest;       /**< Of what decides which records the inputs give. */
    uint64_t classes;      /**< Digest of the class labels. */
    uint64_t changes;      /**< Of the dataset; see lx_dataset_identity. */
    uint64_t first;        /**< Length of the dataset before the import. */
    lx__import_point done; /**< After the last commit. */
    lx__import_point next; /**< After the commit that is about to be made. */
} lx__import_state;

/** Returns the text of the entry; release it with lx__free(). NULL if memory runs out. */
char *lx__import_state_print(const lx__import_state *self);

/**
 * Reads the text of the entry.
 * @retval LX_ERR_CORRUPT      The text does not come from an import.
 * @retval LX_ERR_UNSUPPORTED  It comes from a newer version.
 */
lx_status lx__import_state_parse(lx__import_state *self, const char *text, lx_error *error);

/**
 * Moves the state to the point at which the dataset is.
 * @retval LX_ERR_MISMATCH  The dataset was changed after the import was interrupted.
 */
lx_status lx__import_state_match(lx__import_state *self, uint64_t length, uint64_t changes,
                                 lx_error *error);

#endif

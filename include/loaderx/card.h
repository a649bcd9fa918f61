/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The card of a dataset: where its data came from, and how it may be used.
 */
#ifndef LOADERX_CARD_H
#define LOADERX_CARD_H

#include <stddef.h>

#include <loaderx/dataset.h>
#include <loaderx/writer.h>

LX_BEGIN_DECLS

/**
 * @defgroup lx_card The card of a dataset
 *
 * A card is a small set of texts, each with a key. It belongs to the dataset: it stays in backups,
 * and when the dataset is rebalanced, sealed, repaired or altered. The library does not interpret
 * it, except that imports of folders (lx_importer) set `classes`, and continue it when they append.
 * By convention, the keys are:
 *
 * | key           | text                                                                        |
 * |---------------|-----------------------------------------------------------------------------|
 * | `source`      | where the data came from: an address, a name and a version                  |
 * | `license`     | the license of the data, as an SPDX identifier if it has one                |
 * | `classes`     | the names of the classes, as a JSON array in the order of their labels      |
 * | `tokenizer`   | for tokens: the name and the version of the tokenizer                       |
 * | `description` | anything else that a reader should know                                     |
 *
 * @code
 * lx_card_entry about[] = {{"source", "https://example.org/texts"},
 *                          {"license", "CC-BY-4.0"}};
 * lx_writer_set_card(writer, about, 2, &error);
 * @endcode
 * @see loaderx-card(1), lx_dataset, lx_error, lx_writer, zrecord(5)
 * @{
 */

/** The maximum number of entries of a card. */
#define LX_MAX_CARD_ENTRIES 64
/** The maximum number of bytes of all keys and texts of a card. */
#define LX_MAX_CARD_BYTES 65536
/** The key of the entry that a dataset has while an import into it is not complete. It says from
 * where an interrupted import continues. To keep the dataset as it is, remove the entry. */
#define LX_CARD_IMPORT "loaderx.import"

/** An entry of a card. */
typedef struct lx_card_entry {
    const char *key;  /**< Has the form of a field name; see lx_schema_add_field(). */
    const char *text; /**< UTF-8; may be empty. To remove an entry, NULL. */
} lx_card_entry;

/**
 * A copy of a card, independent of the dataset.
 *
 * @par Thread safety
 * A card never changes, so any number of threads may use it.
 */
typedef struct lx_card lx_card;

/**
 * Reads the card of a dataset, as the last commit that the handle shows left it. A dataset without
 * a card has an empty one.
 *
 * @param[in]  dataset  The dataset.
 * @param[out] card     Receives the card; release it with lx_card_free(). NULL on failure.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            Success.
 * @retval LX_ERR_ARGUMENT  A pointer is NULL.
 * @retval LX_ERR_NOMEM     Out of memory.
 * @return Otherwise, if @p dataset is live, any status that lx_dataset_refresh() returns.
 */
LX_API lx_status lx_dataset_read_card(lx_dataset *dataset, lx_card **card, lx_error *error);

/** Frees a card. NULL is allowed. */
LX_API void lx_card_free(lx_card *card);

/** Returns the number of entries. */
LX_API size_t lx_card_get_count(const lx_card *card);

/**
 * Returns an entry, which stays valid until the card is freed. The entries are in the order in
 * which their keys were first set.
 *
 * @param card      The card.
 * @param position  The position of the entry, less than lx_card_get_count(); otherwise, the
 *                  function returns NULL.
 */
LX_API const lx_card_entry *lx_card_get_entry(const lx_card *card, size_t position);

/** Returns the text with the key @p key, which stays valid until the card is freed; NULL if there
 * is none. */
LX_API const char *lx_card_get_text(const lx_card *card, const char *key);

/**
 * Sets and removes entries of a dataset's card; all other entries stay. The call commits first,
 * unless a transaction is open, and then changes all entries or none, even if it is interrupted. No
 * rollback undoes it. Readers see the new card after they refresh.
 *
 * @param[in]  writer   The writer.
 * @param[in]  entries  @p count entries; an entry whose text is NULL is removed.
 * @param[in]  count    The number of entries.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The card was changed, and the change is durable.
 * @retval LX_ERR_ARGUMENT  A key or a text is invalid, the card would have more than
 *                          #LX_MAX_CARD_ENTRIES entries or #LX_MAX_CARD_BYTES bytes, or a pointer
 *                          is NULL.
 * @retval LX_ERR_STATE     The writer has sealed the dataset.
 * @retval LX_ERR_POISONED  A sync failed, and it is unknown which card the dataset has.
 * @return Otherwise, any status that lx_writer_commit() returns.
 */
LX_API lx_status lx_writer_set_card(lx_writer *writer, const lx_card_entry *entries, size_t count,
                                    lx_error *error);

/**
 * Sets the card of a dataset that is about to be created. lx_writer_open() ignores it, as it
 * ignores the limits of chunks.
 *
 * @param[in]  options  The options.
 * @param[in]  entries  @p count entries, which are copied.
 * @param[in]  count    The number of entries; 0 for an empty card, which is the default.
 * @param[out] error    Receives the first failure; may be NULL.
 *
 * @retval LX_OK            Success.
 * @retval LX_ERR_ARGUMENT  As for lx_writer_set_card(); nothing changed.
 * @retval LX_ERR_NOMEM     Out of memory; nothing changed.
 */
LX_API lx_status lx_writer_options_set_card(lx_writer_options *options,
                                            const lx_card_entry *entries, size_t count,
                                            lx_error *error);

/** @} */

LX_END_DECLS

#endif

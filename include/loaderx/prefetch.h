/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Runs any producer in advance of its consumer.
 */
#ifndef LOADERX_PREFETCH_H
#define LOADERX_PREFETCH_H

#include <stddef.h>

#include <loaderx/executor.h>
#include <loaderx/export.h>
#include <loaderx/status.h>

LX_BEGIN_DECLS

/**
 * @defgroup lx_prefetcher Prefetch the items of a producer
 *
 * A prefetcher calls a function that produces one item at a time, such as a batch that is parsed
 * from a file or received from a socket, on a thread of an executor, while the program works on
 * earlier items. A bounded number of items is ready in advance, and the memory of an item that the
 * program has used goes back to the producer. Loaders do not need a prefetcher: they prefetch their
 * batches themselves.
 *
 * @code
 * static lx_status read_block(void **item, void *user, lx_error *error)
 * {
 *     if (*item == NULL)
 *         *item = malloc(sizeof(struct block));
 *     struct block *block = *item;
 *     if (block == NULL)
 *         return lx_fail(error, LX_ERR_NOMEM, "no memory for a block");
 *     block->length = fread(block->bytes, 1, sizeof block->bytes, user);
 *     if (ferror(user))
 *         return lx_fail_errno(error, errno, "log", "cannot read");
 *     return block->length != 0 ? LX_OK : LX_END;
 * }
 *
 * static void free_block(void *item, void *user)
 * {
 *     free(item);
 * }
 *
 * lx_prefetcher *blocks = NULL;
 * void *block = NULL;
 * if (lx_prefetcher_open(NULL, 2, read_block, free_block, file, &blocks,
 *                        &error) != LX_OK)
 *     return complain(&error);
 * while (lx_prefetcher_next(blocks, &block, &error) == LX_OK)
 *     parse(block);
 * lx_prefetcher_close(blocks);
 * @endcode
 * @see lx_error, lx_executor, lx_loader, loaderx(7)
 * @{
 */

/**
 * A producer, and the items that are ready.
 *
 * @par Thread safety
 * Only one thread at a time may use a prefetcher. The producer runs on other threads.
 *
 * @par fork
 * A prefetcher belongs to the process that opened it. In a child of fork(2), lx_prefetcher_next()
 * returns #LX_ERR_FORKED, and lx_prefetcher_close() does nothing.
 */
typedef struct lx_prefetcher lx_prefetcher;

/**
 * Produces the next item. The calls do not overlap, but different threads may make them.
 *
 * @param item   Where the item is. Contains NULL, or an item that the consumer has used and whose
 *               memory this call can reuse. The function may replace it; then it must free what was
 *               there. What is there after a failure or #LX_END is also kept for later calls.
 * @param user   The pointer that was passed to lx_prefetcher_open().
 * @param error  Receives the description of a failure; never NULL.
 * @return #LX_OK if @p item contains the next item; #LX_END if there are no more items. A negative
 *         status is a failure, which lx_prefetcher_next() returns after all earlier items.
 */
typedef lx_status (*lx_produce_function)(void **item, void *user, lx_error *error);

/** Frees an item, which is not NULL. The producer is not running, and is not called again. */
typedef void (*lx_free_item_function)(void *item, void *user);

/**
 * Opens a prefetcher, which begins to produce items at once.
 *
 * @param[in]  executor    The executor whose readers call @p produce; the prefetcher keeps a
 *                         reference. NULL for one of the prefetcher's own, with a single reader.
 *                         Use that if @p produce waits for long, because it keeps a reader from
 *                         other work. If the executor has no readers, lx_prefetcher_next() calls
 *                         @p produce itself.
 * @param[in]  depth       The maximum number of items that are ready in advance, at least 1. There
 *                         is one more item, which the consumer uses.
 * @param[in]  produce     The function that produces an item.
 * @param[in]  free_item   The function that frees an item; NULL if items need not be freed.
 * @param[in]  user        The pointer to pass to both functions; may be NULL.
 * @param[out] prefetcher  Receives the prefetcher; close it with lx_prefetcher_close().
 * @param[out] error       Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The prefetcher was opened.
 * @retval LX_ERR_ARGUMENT  @p depth is 0, or a pointer is NULL.
 * @retval LX_ERR_STATE     The executor is closed.
 * @retval LX_ERR_NOMEM     Out of memory, or @p depth is too large.
 * @retval LX_ERR_IO        The system could not start a thread.
 * @retval LX_ERR_FORKED    The executor belongs to the parent process.
 */
LX_API lx_status lx_prefetcher_open(lx_executor *executor, size_t depth,
                                    lx_produce_function produce, lx_free_item_function free_item,
                                    void *user, lx_prefetcher **prefetcher, lx_error *error);

/**
 * Waits for the next item and returns it. Items and failures arrive in the order in which they were
 * produced. After a failure, the producer pauses; a further call lets it continue, so a consumer
 * that does not want this closes the prefetcher.
 *
 * @param[in]  prefetcher  The prefetcher.
 * @param[out] item        Receives the item, which is valid until the next call. It still belongs
 *                         to the prefetcher. Set to NULL if the call does not return #LX_OK.
 * @param[out] error       Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The item was stored in @p item.
 * @retval LX_END           The producer has returned #LX_END. Further calls return #LX_END, too.
 * @retval LX_ERR_CALLBACK  The producer returned a positive status other than #LX_END.
 * @retval LX_ERR_STATE     The executor was closed.
 * @retval LX_ERR_FORKED    The prefetcher belongs to the parent process.
 * @retval LX_ERR_ARGUMENT  A pointer is NULL.
 * @return Otherwise, the status that the producer returned.
 */
LX_API lx_status lx_prefetcher_next(lx_prefetcher *prefetcher, void **item, lx_error *error);

/**
 * Stops the producer and frees all items, also those that the consumer has not taken. If the
 * producer is running, the call waits until it returns; the program must interrupt a producer that
 * waits for something else. The producer itself must not make the call, which would wait for
 * itself. NULL is allowed.
 */
LX_API void lx_prefetcher_close(lx_prefetcher *prefetcher);

/** @} */

LX_END_DECLS

#endif

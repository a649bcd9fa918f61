/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Threads that work for loaders, datasets and the caller: three queues of tasks.
 *
 * An executor owns one queue each for reading, for writing and for getting rid of things, with the
 * threads that serve it. It knows tasks and nothing of what they do. One executor serves any
 * number of loaders and writers; there is no global one, and nothing is sized by the environment.
 *
 * A task is a function and a number of parts; its parts run on several threads at a time. Tasks of
 * a queue begin oldest first, and the parts of a task in the order of their numbers. A thread is
 * started when a queue has more to do than its threads so far, never before its first task.
 */
#ifndef LOADERX_EXECUTOR_H
#define LOADERX_EXECUTOR_H

#include <stddef.h>
#include <stdint.h>

#include <loaderx/export.h>
#include <loaderx/status.h>

LX_BEGIN_DECLS

/** @defgroup lx_executor Threads and their queues
 * @{ */

/** Most threads that read. */
#define LX_MAX_READERS 64
/** Most threads that write, each into a chunk of its own. */
#define LX_MAX_WRITERS 4
/** Most threads that unmap, close and remove. */
#define LX_MAX_CLEANERS 4

/** What a task is for, and so whose thread runs it. */
typedef enum lx_queue {
    LX_QUEUE_READ = 0,  /**< Fills batches: the readers'. */
    LX_QUEUE_WRITE = 1, /**< Compresses, places and commits: the writers'. */
    LX_QUEUE_GC = 2     /**< Unmaps, closes, unlinks, frees: the cleaners'. */
} lx_queue;

/**
 * How many threads an executor may have.
 *
 * @par Thread safety
 * None; an executor copies what it needs when it is opened.
 */
typedef struct lx_executor_options lx_executor_options;

/**
 * The queues and their threads.
 *
 * @par Lifetime
 * It is counted. lx_executor_open() gives the first reference; each lx_executor_ref() one more.
 * A reference is given up by lx_executor_unref(), or by lx_executor_close(), which also stops the
 * threads at once, for all who use them. When the last one goes, what is left is stopped and freed.
 *
 * @par Thread safety
 * Full: every call may be made from any thread, also from within a task, on a reference that lasts
 * as long as the call.
 *
 * @par fork
 * An executor belongs to the process that opened it. In a child, calls that return a status fail
 * with LX_ERR_FORKED, all others do nothing, and none hangs: open one there.
 */
typedef struct lx_executor lx_executor;

/**
 * A task that was submitted: to wait for, or to cancel. It is counted like an executor, keeps what
 * it needs of its executor, and may be waited for after that is closed.
 *
 * @par Thread safety
 * Full, as long as each thread has a reference.
 */
typedef struct lx_ticket lx_ticket;

/**
 * Part @p part of a task, counted from 0. It runs once on one thread, at the same time as other
 * parts on other threads. All signals but those that a fault raises are blocked in the
 * executor's threads.
 *
 * @param user   As given to lx_executor_submit().
 * @param part   Which part.
 * @param error  Tells of nothing yet; where the function may say why it failed.
 * @return A negative status fails the task: no further part begins.
 */
typedef lx_status (*lx_task_function)(void *user, size_t part, lx_error *error);

/** What a queue did since it was opened. A task counts when it is over. */
typedef struct lx_queue_stats {
    uint64_t threads;     /**< Threads it has now. */
    uint64_t queued;      /**< Tasks that wait now: parts of them have not begun, or a time has not
                               come. */
    uint64_t tasks;       /**< Tasks that are over, canceled ones too. */
    uint64_t canceled;    /**< Those of which a part never ran, since they were canceled. */
    uint64_t parts;       /**< Parts that ran, on its threads and on those of waiters. */
    uint64_t idle_ns;     /**< Nanoseconds its threads had nothing to do, summed over them. */
    uint64_t reserved[6]; /**< Zero. */
} lx_queue_stats;

/**
 * Options with their defaults: one writer, one cleaner, and as many readers as there are CPUs for
 * the process (by its affinity and the CPU quotas of its control groups, versions 1 and 2), up to
 * #LX_MAX_READERS. NULL when there is no memory.
 */
LX_API lx_executor_options *lx_executor_options_new(void);

/** Frees them; @p options may be NULL. */
LX_API void lx_executor_options_free(lx_executor_options *options);

/**
 * Threads that read, 0 to #LX_MAX_READERS. With 0 there are none, and who waits for a task of
 * #LX_QUEUE_READ runs it.
 *
 * @retval LX_OK            It is set.
 * @retval LX_ERR_ARGUMENT  There may not be that many, or @p options is NULL; nothing was changed.
 */
LX_API lx_status lx_executor_options_set_readers(lx_executor_options *options, uint32_t count,
                                                 lx_error *error);

/** Threads that write, 1 to #LX_MAX_WRITERS; the same answers. */
LX_API lx_status lx_executor_options_set_writers(lx_executor_options *options, uint32_t count,
                                                 lx_error *error);

/** Threads that get rid of things, 1 to #LX_MAX_CLEANERS; the same answers. */
LX_API lx_status lx_executor_options_set_cleaners(lx_executor_options *options, uint32_t count,
                                                  lx_error *error);

/**
 * Makes an executor. No thread is started yet.
 *
 * @param[in]  options   May be NULL: the defaults.
 * @param[out] executor  The new one, with one reference, the caller's; NULL on failure.
 * @param[out] error     What failed; may be NULL.
 * @retval LX_OK            Made.
 * @retval LX_ERR_ARGUMENT  @p executor is NULL.
 * @retval LX_ERR_NOMEM     There is no memory.
 */
LX_API lx_status lx_executor_open(const lx_executor_options *options, lx_executor **executor,
                                  lx_error *error);

/**
 * Stops the executor for all who use it, and gives up the caller's reference.
 *
 * Nothing begins any more: what has not begun is canceled, submitting fails with LX_ERR_STATE.
 * It returns when no callback runs any longer, and waits for nothing else. Called from within a
 * callback of this executor it does not wait at all: the threads then end on their own.
 *
 * @param executor  May be NULL. Not to be used by the caller after, unless he has more references.
 */
LX_API void lx_executor_close(lx_executor *executor);

/** One reference more. Returns @p executor. */
LX_API lx_executor *lx_executor_ref(lx_executor *executor);

/** Gives up a reference; with the last one the executor is closed as by lx_executor_close().
 * @p executor may be NULL. */
LX_API void lx_executor_unref(lx_executor *executor);

/** The readers it may have; 0 where waiters do the reading. */
LX_API uint32_t lx_executor_get_readers(const lx_executor *executor);

/** The writers it may have. */
LX_API uint32_t lx_executor_get_writers(const lx_executor *executor);

/** The cleaners it may have. */
LX_API uint32_t lx_executor_get_cleaners(const lx_executor *executor);

/**
 * Copies what @p queue did so far.
 *
 * @retval LX_OK            Copied.
 * @retval LX_ERR_ARGUMENT  There is no such queue, or a pointer is NULL.
 * @retval LX_ERR_FORKED    The executor belongs to the parent process.
 */
LX_API lx_status lx_executor_read_stats(lx_executor *executor, lx_queue queue,
                                        lx_queue_stats *stats, lx_error *error);

/** @} */

/** @defgroup lx_ticket Submit tasks and wait for them
 * @{ */

/**
 * Has @p function run once for each of 0 .. @p parts - 1 by the threads of @p queue.
 *
 * It returns at once. What @p user points to must stay until lx_ticket_wait() has returned for it,
 * or until all parts are known to have run.
 *
 * @param[in]  executor  An executor.
 * @param[in]  queue     Whose threads run it.
 * @param[in]  function  What is run.
 * @param[in]  user      Given to each call of it; may be NULL.
 * @param[in]  parts     How many, at least 1.
 * @param[out] ticket    To be given up by lx_ticket_unref(), which may be at once: the task runs
 *                       all the same. (With 0 readers a task of #LX_QUEUE_READ runs only while
 *                       somebody waits for it.) NULL on failure.
 * @param[out] error     What failed; may be NULL.
 * @retval LX_OK            Submitted.
 * @retval LX_ERR_ARGUMENT  No such queue, no parts (or more than SIZE_MAX / 2), or a pointer is
 *                          NULL.
 * @retval LX_ERR_STATE     The executor is closed.
 * @retval LX_ERR_NOMEM     There is no memory.
 * @retval LX_ERR_IO        The queue has no thread, and the system would not start one.
 * @retval LX_ERR_FORKED    The executor belongs to the parent process.
 */
LX_API lx_status lx_executor_submit(lx_executor *executor, lx_queue queue,
                                    lx_task_function function, void *user, size_t parts,
                                    lx_ticket **ticket, lx_error *error);

/**
 * Waits until nothing of the task runs or will run. May be called again, and by several threads.
 *
 * The waiting thread runs parts itself where the queue has no threads, and within a callback of
 * the same executor, so that tasks may wait for tasks.
 *
 * Of several parts that failed the one with the lowest number is told of. That is the same one
 * whatever the number of threads: a failure stops only parts with higher numbers.
 *
 * @retval LX_OK            All parts ran, none failed.
 * @retval LX_ERR_CANCELED  It was canceled, or the executor closed, before all parts had begun.
 * @retval LX_ERR_ARGUMENT  @p ticket is NULL.
 * @retval LX_ERR_FORKED    The executor belongs to the parent process.
 * @return Else the status that the function returned, and @p error as the function left it.
 */
LX_API lx_status lx_ticket_wait(lx_ticket *ticket, lx_error *error);

/**
 * As lx_ticket_wait(), for @p nanoseconds at most. A thread that runs parts itself runs at least
 * one, and begins none after the time is up.
 *
 * @retval LX_ERR_TIMEOUT  The task is not over. Nothing failed: @p error is left as it is.
 */
LX_API lx_status lx_ticket_wait_timed(lx_ticket *ticket, uint64_t nanoseconds, lx_error *error);

/**
 * Cancels what has not begun. Parts that run go on to their end: wait for the ticket to know of
 * that. On a task that is over, or of which all parts have begun, it changes nothing.
 *
 * @param ticket  May be NULL.
 */
LX_API void lx_ticket_cancel(lx_ticket *ticket);

/** One reference more. Returns @p ticket. */
LX_API lx_ticket *lx_ticket_ref(lx_ticket *ticket);

/** Gives up a reference, not the task. @p ticket may be NULL. */
LX_API void lx_ticket_unref(lx_ticket *ticket);

/** @} */

LX_END_DECLS

#endif

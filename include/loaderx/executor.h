/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief Threads that run tasks for loaders, datasets, writers and the caller.
 */
#ifndef LOADERX_EXECUTOR_H
#define LOADERX_EXECUTOR_H

#include <stddef.h>
#include <stdint.h>

#include <loaderx/export.h>
#include <loaderx/status.h>

LX_BEGIN_DECLS

/**
 * @defgroup lx_executor Threads that run tasks
 *
 * An executor owns two queues of tasks, for reading and for writing, and the threads that serve
 * them. It runs tasks and knows nothing of their purpose. One executor can serve
 * any number of loaders, datasets and writers; those without one open their own.
 * There is no global executor, and no environment variable has an effect.
 *
 * A queue starts a thread when it has more work than its threads can take, and never before its
 * first task. The threads are named "lx-read-0" and so on. They block all signals except those that
 * a fault raises. A reader or writer without work looks for more for some 30 microseconds before it
 * sleeps, unless that was in vain lately or the executor has more threads than CPUs.
 *
 * Two loaders that share eight threads:
 *
 * @code
 * lx_executor_options *options = lx_executor_options_new();
 * lx_executor_options_set_reader_count(options, 8, &error);
 * lx_executor *executor = NULL;
 * if (lx_executor_open(options, &executor, &error) != LX_OK)
 *     return complain(&error);
 * lx_executor_options_free(options);
 * lx_loader_options_set_executor(training, executor, &error);
 * lx_loader_options_set_executor(evaluation, executor, &error);
 * lx_executor_unref(executor); // the options have references
 * @endcode
 * @see lx_error, lx_ticket, loaderx(7)
 * @{
 */

/** The most threads that read. */
#define LX_MAX_READERS 64
/** The most threads that write, each into a chunk of its own. */
#define LX_MAX_WRITERS 4

/** The purpose of a task, which selects the threads that run it. */
typedef enum lx_queue {
    LX_QUEUE_READ = 0, /**< Filling batches, by the readers. */
    LX_QUEUE_WRITE = 1 /**< Compressing, writing and committing, by the writers. */
} lx_queue;

/**
 * The options of an executor: how many threads it can have.
 *
 * @par Thread safety
 * None. An executor copies what it needs when it is opened.
 */
typedef struct lx_executor_options lx_executor_options;

/**
 * Two queues of tasks and their threads.
 *
 * @par Ownership
 * An executor is counted. lx_executor_open() returns the first reference, lx_executor_ref() adds
 * one, and lx_executor_unref() drops one. lx_executor_close() drops one and stops the threads for
 * all users. Dropping the last reference stops and frees the executor.
 *
 * @par Thread safety
 * Full: any thread may call, also from within a task, as long as it holds a reference.
 *
 * @par fork
 * An executor belongs to the process that opened it. In a child of fork(2), calls that return a
 * status return #LX_ERR_FORKED, all others do nothing, and none waits. The child opens its own.
 */
typedef struct lx_executor lx_executor;

/** The work of a queue since the executor was opened. A task counts when it has ended. */
typedef struct lx_queue_stats {
    uint64_t threads;     /**< Threads now. */
    uint64_t queued;      /**< Tasks that wait now: parts of them have not begun, or their time has
                               not come. */
    uint64_t tasks;       /**< Tasks that have ended, canceled ones included. */
    uint64_t canceled;    /**< Tasks of which a part never ran because they were canceled. */
    uint64_t parts;       /**< Parts that ran, on the queue's threads and on those of waiters. */
    uint64_t idle_ns;     /**< Nanoseconds without work, summed over the queue's threads. */
    uint64_t reserved[6]; /**< Zero. */
} lx_queue_stats;

/**
 * Returns options with the defaults: one writer, and a reader for each CPU of the process (by its
 * affinity and the CPU quotas of its control groups, version 2), up to #LX_MAX_READERS. Returns
 * NULL when out of memory.
 */
LX_API lx_executor_options *lx_executor_options_new(void);

/** Frees options. NULL is allowed. */
LX_API void lx_executor_options_free(lx_executor_options *options);

/**
 * Sets the number of threads that read, 0 to #LX_MAX_READERS. With 0, the thread that waits for a
 * task of #LX_QUEUE_READ runs it.
 *
 * @retval LX_OK            The number is set.
 * @retval LX_ERR_ARGUMENT  @p count is out of range or @p options is NULL; nothing changed.
 */
LX_API lx_status lx_executor_options_set_reader_count(lx_executor_options *options, uint32_t count,
                                                      lx_error *error);

/**
 * Sets the number of threads that write, 1 to #LX_MAX_WRITERS.
 * @return As lx_executor_options_set_reader_count().
 */
LX_API lx_status lx_executor_options_set_writer_count(lx_executor_options *options, uint32_t count,
                                                      lx_error *error);

/**
 * Opens an executor. It starts no thread yet.
 *
 * @param[in]  options   The options; NULL for the defaults.
 * @param[out] executor  Receives the executor, with one reference; NULL on failure.
 * @param[out] error     Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The executor is open.
 * @retval LX_ERR_ARGUMENT  @p executor is NULL.
 * @retval LX_ERR_NOMEM     Out of memory.
 */
LX_API lx_status lx_executor_open(const lx_executor_options *options, lx_executor **executor,
                                  lx_error *error);

/**
 * Stops an executor for all of its users, and drops the caller's reference.
 *
 * Work that has not begun is canceled, and lx_executor_submit() returns #LX_ERR_STATE from now on.
 * The call waits for callbacks that are running, and for nothing else. From within a callback of
 * the same executor it does not wait; the threads then end on their own.
 *
 * @param executor  The executor; NULL is allowed.
 */
LX_API void lx_executor_close(lx_executor *executor);

/** Adds a reference. Returns @p executor. */
LX_API lx_executor *lx_executor_ref(lx_executor *executor);

/**
 * Drops a reference; dropping the last one closes the executor as lx_executor_close() does. NULL is
 * allowed.
 */
LX_API void lx_executor_unref(lx_executor *executor);

/** Returns the most readers that it can have; 0 if waiting threads read themselves. */
LX_API uint32_t lx_executor_get_reader_count(const lx_executor *executor);

/** Returns the most writers that it can have. */
LX_API uint32_t lx_executor_get_writer_count(const lx_executor *executor);

/**
 * Copies the statistics of a queue.
 *
 * @retval LX_OK            They are at @p stats.
 * @retval LX_ERR_ARGUMENT  @p queue is invalid, or a pointer is NULL.
 * @retval LX_ERR_FORKED    The executor belongs to the parent process.
 */
LX_API lx_status lx_executor_get_stats(lx_executor *executor, lx_queue queue, lx_queue_stats *stats,
                                       lx_error *error);

/** @} */

/**
 * @defgroup lx_ticket Submit tasks and wait for them
 *
 * A task is a function and a number of parts, which run on several threads at a time. The tasks of
 * a queue begin in the order in which they were submitted, and the parts of a task in the order of
 * their numbers.
 *
 * A part that fails stops the parts with higher numbers that have not begun; parts that run
 * continue to their end. If several parts fail, the failure of the one with the lowest number is
 * reported: the same one for any number of threads.
 *
 * @code
 * static lx_status sum_part(size_t part, void *user, lx_error *error)
 * {
 *     struct job *job = user;
 *     (void)error;
 *     job->sums[part] = sum(job->numbers + part * 1000, 1000);
 *     return LX_OK;
 * }
 *
 * lx_ticket *ticket = NULL;
 * lx_executor_submit(executor, LX_QUEUE_READ, sum_part, &job, 64, &ticket,
 *                    &error);
 * lx_ticket_wait(ticket, &error); // a failed submit stays in error
 * lx_ticket_unref(ticket);
 * @endcode
 * @see lx_error, lx_executor, loaderx(7)
 * @{
 */

/**
 * A submitted task: to wait for, or to cancel. It is counted like an executor, and may be waited
 * for after its executor is closed.
 *
 * @par Thread safety
 * Full, as long as each thread holds a reference.
 */
typedef struct lx_ticket lx_ticket;

/**
 * Runs one part of a task. Each part runs once, on one thread, at the same time as other parts on
 * other threads.
 *
 * @param part   The number of the part, from 0.
 * @param user   As given to lx_executor_submit().
 * @param error  Empty at the call; the function can describe its failure there.
 * @return #LX_OK or #LX_END if the part succeeded; a negative status fails the task.
 */
typedef lx_status (*lx_task_function)(size_t part, void *user, lx_error *error);

/**
 * Submits a task: the threads of @p queue call @p function once for each part from 0 to
 * @p parts - 1. The call returns at once.
 *
 * The memory at @p user must stay valid until lx_ticket_wait() has returned for the task, or until
 * all parts are known to have run.
 *
 * @param[in]  executor  The executor.
 * @param[in]  queue     The queue whose threads run the task.
 * @param[in]  function  The function to call.
 * @param[in]  user      Passed to each call; may be NULL.
 * @param[in]  parts     The number of parts, at least 1.
 * @param[out] ticket    Receives the ticket, to be released with lx_ticket_unref(), which may be at
 *                       once: the task runs all the same, except that with 0 readers a task of
 *                       #LX_QUEUE_READ runs only while a thread waits for it. NULL on failure.
 * @param[out] error     Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The task is submitted.
 * @retval LX_ERR_ARGUMENT  @p queue is invalid, @p parts is 0 or above SIZE_MAX / 2, or a pointer
 *                          is NULL.
 * @retval LX_ERR_STATE     The executor is closed.
 * @retval LX_ERR_NOMEM     Out of memory.
 * @retval LX_ERR_IO        The queue has no thread, and the system could not start one.
 * @retval LX_ERR_FORKED    The executor belongs to the parent process.
 */
LX_API lx_status lx_executor_submit(lx_executor *executor, lx_queue queue,
                                    lx_task_function function, void *user, size_t parts,
                                    lx_ticket **ticket, lx_error *error);

/**
 * Waits until no part of the task runs or will run. It may be called again, and by several threads.
 *
 * The waiting thread runs parts itself if the queue has no threads, and within a callback of the
 * same executor, so that tasks may wait for tasks.
 *
 * @retval LX_OK            All parts ran, and none failed.
 * @retval LX_ERR_CANCELED  The task was canceled, or the executor closed, before all parts had
 *                          begun.
 * @retval LX_ERR_ARGUMENT  @p ticket is NULL.
 * @retval LX_ERR_FORKED    The executor belongs to the parent process.
 * @return Otherwise the status of the part that failed; @p error is as the function left it.
 */
LX_API lx_status lx_ticket_wait(lx_ticket *ticket, lx_error *error);

/**
 * Waits as lx_ticket_wait() does, but for @p nanoseconds at most. A thread that runs parts itself
 * runs at least one, and begins none after the time is up.
 *
 * @retval LX_ERR_TIMEOUT  The task has not ended. This is not a failure: @p error is unchanged.
 * @return Otherwise as lx_ticket_wait().
 */
LX_API lx_status lx_ticket_wait_timed(lx_ticket *ticket, uint64_t nanoseconds, lx_error *error);

/**
 * Cancels the parts that have not begun. Running parts continue to their end: wait for the ticket
 * to see it. A task that has ended, or of which all parts have begun, is unchanged.
 *
 * @param ticket  The ticket; NULL is allowed.
 */
LX_API void lx_ticket_cancel(lx_ticket *ticket);

/** Adds a reference. Returns @p ticket. */
LX_API lx_ticket *lx_ticket_ref(lx_ticket *ticket);

/** Drops a reference; the task is not canceled. NULL is allowed. */
LX_API void lx_ticket_unref(lx_ticket *ticket);

/** @} */

LX_END_DECLS

#endif

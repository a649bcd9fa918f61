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
 * An executor owns two task queues, one for reading and one for writing, and the threads that serve
 * them. It runs tasks without knowing their purpose. One executor can serve any number of loaders,
 * datasets and writers; a loader, dataset or writer that is not given an executor opens its own.
 * There is no global executor, and no environment variable has any effect.
 *
 * A queue starts no threads before its first task, and then starts another thread whenever it has
 * more work than its threads can handle. The threads are named "lx-read-0" and so on. They block
 * all signals except those that are raised by faults, such as SIGSEGV. A thread that runs out of
 * work polls for about 30 microseconds before it sleeps, unless recent polls found nothing or the
 * executor has more threads than CPUs.
 *
 * This example makes two loaders share eight threads:
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
 * lx_executor_unref(executor); // the options keep their own references
 * @endcode
 * @see lx_error, lx_ticket, loaderx(7)
 * @{
 */

/** The maximum number of reader threads. */
#define LX_MAX_READERS 64
/** The maximum number of writer threads. Each writer thread writes to its own chunk. */
#define LX_MAX_WRITERS 4

/** The purpose of a task, which determines the threads that run it. */
typedef enum lx_queue {
    LX_QUEUE_READ = 0, /**< Tasks that fill batches; the readers run them. */
    LX_QUEUE_WRITE = 1 /**< Tasks that compress, write and commit; the writers run them. */
} lx_queue;

/**
 * The options of an executor, which limit its number of threads.
 *
 * @par Thread safety
 * Only one thread at a time may use the options. An executor copies what it needs when it is
 * opened.
 */
typedef struct lx_executor_options lx_executor_options;

/**
 * Two task queues and their threads.
 *
 * @par Ownership
 * Executors are reference-counted. lx_executor_open() returns the first reference,
 * lx_executor_ref() adds one, and lx_executor_unref() drops one. lx_executor_close() drops one and
 * stops the threads for all users of the executor. Dropping the last reference stops and frees the
 * executor.
 *
 * @par Thread safety
 * Any thread may make any call at any time, even from within a task, as long as it holds a
 * reference.
 *
 * @par fork
 * An executor belongs to the process that opened it. In a child of fork(2), calls that return a
 * status return #LX_ERR_FORKED, other calls do nothing, and no call waits. The child must open its
 * own executor.
 */
typedef struct lx_executor lx_executor;

/** Statistics of a queue since the executor was opened. A task is counted when it ends. */
typedef struct lx_queue_stats {
    uint64_t threads;     /**< The current number of threads. */
    uint64_t queued;      /**< The number of tasks that are currently waiting, either because some
                               of their parts have not begun or because their start time has not
                               come. */
    uint64_t tasks;       /**< The number of tasks that have ended, including canceled ones. */
    uint64_t canceled;    /**< The number of tasks that were canceled before all of their parts
                               ran. */
    uint64_t parts;       /**< The number of parts that ran, either on the queue's threads or on
                               waiting threads. */
    uint64_t idle_ns;     /**< The time during which threads had no work, in nanoseconds, summed
                               over the queue's threads. */
    uint64_t reserved[6]; /**< Reserved; zero. */
} lx_queue_stats;

/**
 * Returns new options with the defaults: one writer, and one reader per CPU that the process may
 * use (according to its CPU affinity and its cgroup v2 CPU quotas), up to #LX_MAX_READERS. Returns
 * NULL if out of memory.
 */
LX_API lx_executor_options *lx_executor_options_new(void);

/** Frees the options. NULL is allowed. */
LX_API void lx_executor_options_free(lx_executor_options *options);

/**
 * Sets the number of reader threads, 0 to #LX_MAX_READERS. With 0, a task of #LX_QUEUE_READ runs on
 * the thread that waits for it.
 *
 * @retval LX_OK            Success.
 * @retval LX_ERR_ARGUMENT  @p count is out of range, or @p options is NULL; nothing changed.
 */
LX_API lx_status lx_executor_options_set_reader_count(lx_executor_options *options, uint32_t count,
                                                      lx_error *error);

/**
 * Sets the number of writer threads, 1 to #LX_MAX_WRITERS.
 * @return Any status that lx_executor_options_set_reader_count() returns.
 */
LX_API lx_status lx_executor_options_set_writer_count(lx_executor_options *options, uint32_t count,
                                                      lx_error *error);

/**
 * Opens an executor. It does not start any threads yet.
 *
 * @param[in]  options   The options; NULL for the defaults.
 * @param[out] executor  Receives the executor, with one reference; NULL on failure.
 * @param[out] error     Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The executor was opened.
 * @retval LX_ERR_ARGUMENT  @p executor is NULL.
 * @retval LX_ERR_NOMEM     Out of memory.
 */
LX_API lx_status lx_executor_open(const lx_executor_options *options, lx_executor **executor,
                                  lx_error *error);

/**
 * Stops an executor for all of its users, and drops the caller's reference.
 *
 * Work that has not begun is canceled, and later calls to lx_executor_submit() return
 * #LX_ERR_STATE. The call waits only for callbacks that are running. If the call is made in a
 * callback of the same executor, it does not wait, and the threads end on their own.
 *
 * @param executor  The executor; NULL is allowed.
 */
LX_API void lx_executor_close(lx_executor *executor);

/** Adds a reference and returns @p executor. */
LX_API lx_executor *lx_executor_ref(lx_executor *executor);

/**
 * Drops a reference; dropping the last one closes the executor as lx_executor_close() does. NULL is
 * allowed.
 */
LX_API void lx_executor_unref(lx_executor *executor);

/**
 * Returns the maximum number of readers; 0 if the tasks of #LX_QUEUE_READ run on the threads that
 * wait for them.
 */
LX_API uint32_t lx_executor_get_reader_count(const lx_executor *executor);

/** Returns the maximum number of writers. */
LX_API uint32_t lx_executor_get_writer_count(const lx_executor *executor);

/**
 * Copies the statistics of a queue.
 *
 * @retval LX_OK            The statistics were copied to @p stats.
 * @retval LX_ERR_ARGUMENT  @p queue is invalid, or a pointer is NULL.
 * @retval LX_ERR_FORKED    The executor belongs to the parent process.
 */
LX_API lx_status lx_executor_get_stats(lx_executor *executor, lx_queue queue, lx_queue_stats *stats,
                                       lx_error *error);

/** @} */

/**
 * @defgroup lx_ticket Submit tasks and wait for them
 *
 * A task consists of a function and a number of parts, which can run on several threads at the same
 * time. The tasks of a queue begin in the order in which they were submitted, and the parts of a
 * task in the order of their numbers.
 *
 * When a part fails, parts with higher numbers that have not begun are canceled; running parts run
 * to completion. If several parts fail, the failure of the part with the lowest number is reported,
 * so the result does not depend on the number of threads.
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
 * lx_ticket_wait(ticket, &error); // error keeps the failure of the submit
 * lx_ticket_unref(ticket);
 * @endcode
 * @see lx_error, lx_executor, loaderx(7)
 * @{
 */

/**
 * A submitted task, which you can wait for or cancel. Tickets are reference-counted like executors,
 * and you can wait for a ticket even after its executor has been closed.
 *
 * @par Thread safety
 * Any thread may make any call at any time, as long as it holds a reference.
 */
typedef struct lx_ticket lx_ticket;

/**
 * Runs one part of a task. Each part runs once, on one thread, possibly at the same time as other
 * parts on other threads.
 *
 * @param part   The number of the part, counted from 0.
 * @param user   The pointer that was passed to lx_executor_submit().
 * @param error  Contains no failure when the function is called; the function can use it to
 *               describe its own failure.
 * @return #LX_OK or #LX_END if the part succeeded; a negative status makes the task fail.
 */
typedef lx_status (*lx_task_function)(size_t part, void *user, lx_error *error);

/**
 * Submits a task: the threads of @p queue call @p function once for each part from 0 to
 * @p parts - 1. The call returns immediately.
 *
 * The memory at @p user must stay valid until lx_ticket_wait() has returned for the task, or until
 * you know that all parts have run.
 *
 * @param[in]  executor  The executor.
 * @param[in]  queue     The queue whose threads run the task.
 * @param[in]  function  The function to call.
 * @param[in]  user      The pointer to pass to each call; may be NULL.
 * @param[in]  parts     The number of parts, at least 1.
 * @param[out] ticket    Receives the ticket; release it with lx_ticket_unref(). NULL on failure.
 *                       You may release it immediately, and the task still runs; but with 0
 *                       readers, a task of #LX_QUEUE_READ runs only while a thread waits for it.
 * @param[out] error     Receives the first failure; may be NULL.
 *
 * @retval LX_OK            The task was submitted.
 * @retval LX_ERR_ARGUMENT  @p queue is invalid, @p parts is 0 or greater than SIZE_MAX / 2, or a
 *                          pointer is NULL.
 * @retval LX_ERR_STATE     The executor is closed.
 * @retval LX_ERR_NOMEM     Out of memory.
 * @retval LX_ERR_IO        The queue has no threads, and the system could not start one.
 * @retval LX_ERR_FORKED    The executor belongs to the parent process.
 */
LX_API lx_status lx_executor_submit(lx_executor *executor, lx_queue queue,
                                    lx_task_function function, void *user, size_t parts,
                                    lx_ticket **ticket, lx_error *error);

/**
 * Waits until no part of the task is running or will run. You may call it repeatedly, and from
 * several threads.
 *
 * The waiting thread runs parts itself if the queue has no threads, or if the thread is in a
 * callback of the same executor. Tasks can therefore wait for other tasks.
 *
 * @retval LX_OK            All parts ran, and none failed.
 * @retval LX_ERR_CANCELED  The task was canceled, or the executor was closed, before all parts had
 *                          begun.
 * @retval LX_ERR_ARGUMENT  @p ticket is NULL.
 * @retval LX_ERR_FORKED    The executor belongs to the parent process.
 * @return Otherwise, the status of the part that failed; @p error contains what the function stored
 *         in it.
 */
LX_API lx_status lx_ticket_wait(lx_ticket *ticket, lx_error *error);

/**
 * Waits as lx_ticket_wait() does, but for at most @p nanoseconds. If the waiting thread runs parts
 * itself, it runs at least one part, and starts no part after the time is up.
 *
 * @retval LX_ERR_TIMEOUT  The task has not ended. This is not a failure: @p error is unchanged.
 * @return Otherwise, any status that lx_ticket_wait() returns.
 */
LX_API lx_status lx_ticket_wait_timed(lx_ticket *ticket, uint64_t nanoseconds, lx_error *error);

/**
 * Cancels the parts that have not begun. Running parts run to completion; to wait until they have
 * ended, call lx_ticket_wait(). If all parts have begun or the task has ended, the call has no
 * effect.
 *
 * @param ticket  The ticket; NULL is allowed.
 */
LX_API void lx_ticket_cancel(lx_ticket *ticket);

/** Adds a reference and returns @p ticket. */
LX_API lx_ticket *lx_ticket_ref(lx_ticket *ticket);

/** Drops a reference, but does not cancel the task. NULL is allowed. */
LX_API void lx_ticket_unref(lx_ticket *ticket);

/** @} */

LX_END_DECLS

#endif

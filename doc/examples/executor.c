/* SPDX-License-Identifier: MIT */
/*
 * Running your own tasks on the threads that also fill batches, and canceling them.
 *
 *     cc executor.c $(pkg-config --cflags --libs loaderx-executor)
 */
#include <loaderx/executor.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { NUMBERS = 1 << 20, A_PART = 1 << 14, PARTS = NUMBERS / A_PART };

typedef struct job {
    uint32_t *numbers;
    uint64_t sums[PARTS]; /* one for each part: parts run concurrently and share nothing */
} job;

static lx_status sum_part(size_t part, void *user, lx_error *error)
{
    job *work = user;
    (void)error;
    uint64_t sum = 0;
    for (size_t i = part * A_PART; i < (part + 1) * A_PART; i++)
        sum += work->numbers[i];
    work->sums[part] = sum;
    return LX_OK;
}

static int complain(const lx_error *error)
{
    char line[2048];
    lx_error_describe(error, line, sizeof line);
    fprintf(stderr, "executor: %s\n", line);
    return EXIT_FAILURE;
}

int main(void)
{
    lx_error error = LX_ERROR_INIT;
    static job work;
    work.numbers = malloc(NUMBERS * sizeof *work.numbers);
    if (work.numbers == NULL)
        return EXIT_FAILURE;
    for (uint32_t i = 0; i < NUMBERS; i++)
        work.numbers[i] = i;

    /* With the defaults there is a reader for each CPU; a thread starts when it is needed. */
    lx_executor *executor = NULL;
    if (lx_executor_open(NULL, &executor, &error) != LX_OK)
        return complain(&error);

    /* Submitting returns at once. The data of the task must stay valid until the wait has
     * returned. */
    lx_ticket *ticket = NULL;
    if (lx_executor_submit(executor, LX_QUEUE_READ, sum_part, &work, PARTS, &ticket, &error) !=
        LX_OK)
        return complain(&error);
    while (lx_ticket_wait_timed(ticket, 1000000, &error) == LX_ERR_TIMEOUT)
        fprintf(stderr, "still running\n"); /* a timeout is not a failure: the error is unchanged */
    if (lx_ticket_wait(ticket, &error) != LX_OK)
        return complain(&error);
    lx_ticket_unref(ticket);

    uint64_t sum = 0;
    for (size_t i = 0; i < PARTS; i++)
        sum += work.sums[i];
    lx_queue_stats stats;
    if (lx_executor_get_stats(executor, LX_QUEUE_READ, &stats, &error) != LX_OK)
        return complain(&error);
    printf("%" PRIu64 ", by %" PRIu64 " threads in %" PRIu64 " parts\n", sum, stats.threads,
           stats.parts);

    /* Closing cancels tasks that have not begun and waits for running ones. */
    lx_executor_close(executor);
    free(work.numbers);
    return sum == (uint64_t)NUMBERS * (NUMBERS - 1) / 2 ? EXIT_SUCCESS : EXIT_FAILURE;
}

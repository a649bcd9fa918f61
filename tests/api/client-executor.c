/* SPDX-License-Identifier: MIT */
/*
 * A client of the installed executor, valid as C11 and C++17: runs two tasks, one of which
 * fails, and prefetches numbers.
 */
#include <loaderx/executor.h>
#include <loaderx/prefetch.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS = 100 };

static lx_status square(size_t part, void *user, lx_error *error)
{
    (void)error;
    ((size_t *)user)[part] = part * part;
    return LX_OK;
}

static lx_status refuse(size_t part, void *user, lx_error *error)
{
    (void)user, (void)error;
    return part < 7 ? LX_OK : LX_ERR_CALLBACK;
}

/* Runs one task to its end. */
static lx_status run(lx_executor *executor, lx_task_function function, void *user, lx_error *error)
{
    lx_ticket *ticket = NULL;
    lx_status status = lx_executor_submit(executor, LX_QUEUE_READ, function, user, PARTS, &ticket,
                                          error);
    if (status == LX_OK)
        status = lx_ticket_wait(ticket, error);
    lx_ticket_unref(ticket);
    return status;
}

/* Produces the numbers below PARTS. */
static lx_status count(void **item, void *user, lx_error *error)
{
    size_t *next = (size_t *)user;
    if (*item == NULL)
        *item = malloc(sizeof *next);
    if (*item == NULL)
        return lx_fail(error, LX_ERR_NOMEM, "no memory for a number");
    *(size_t *)*item = *next;
    return (*next)++ < PARTS ? LX_OK : LX_END;
}

static void free_item(void *item, void *user)
{
    (void)user;
    free(item);
}

static bool prefetches(lx_executor *executor, lx_error *error)
{
    lx_prefetcher *numbers = NULL;
    void *item = NULL;
    size_t next = 0, expected = 0;
    if (lx_prefetcher_open(executor, 4, count, free_item, &next, &numbers, error) != LX_OK)
        return false;
    while (lx_prefetcher_next(numbers, &item, error) == LX_OK && *(size_t *)item == expected)
        expected++;
    lx_prefetcher_close(numbers);
    return expected == PARTS && error->status == LX_OK;
}

int main(void)
{
    lx_error error = LX_ERROR_INIT;
    lx_executor *executor = NULL;
    lx_executor_options *options = lx_executor_options_new();
    size_t squares[PARTS];
    memset(squares, 0, sizeof squares);
    if (lx_executor_options_set_reader_count(options, 3, &error) != LX_OK ||
        lx_executor_open(options, &executor, &error) != LX_OK)
        return 1;
    lx_executor_options_free(options);
    if (lx_executor_get_reader_count(executor) != 3 ||
        run(executor, square, squares, &error) != LX_OK)
        return 2;
    for (size_t i = 0; i < PARTS; i++)
        if (squares[i] != i * i)
            return 3;
    if (!prefetches(executor, &error) || !prefetches(NULL, &error))
        return 5;
    if (run(executor, refuse, NULL, &error) != LX_ERR_CALLBACK)
        return 4;
    printf("%s\n", error.message);
    lx_executor_close(executor);
    return 0;
}

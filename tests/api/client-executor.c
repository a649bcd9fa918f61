/* SPDX-License-Identifier: MIT */
/*
 * A client of the installed executor, valid as C11 and C++17: runs two tasks, one of which fails.
 */
#include <loaderx/executor.h>

#include <stdio.h>
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
    if (run(executor, refuse, NULL, &error) != LX_ERR_CALLBACK)
        return 4;
    printf("%s\n", error.message);
    lx_executor_close(executor);
    return 0;
}

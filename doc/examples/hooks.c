/* SPDX-License-Identifier: MIT */
/*
 * Setting an allocator and a log hook, and reading an error.
 *
 *     cc hooks.c $(pkg-config --cflags --libs loaderx-base)
 */
#include <loaderx/hooks.h>
#include <loaderx/status.h>
#include <loaderx/version.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

/* The library calls from any thread, so the count is atomic. */
static void *counting_alloc(size_t size, void *user)
{
    atomic_fetch_add((atomic_size_t *)user, 1);
    return malloc(size);
}

static void *counting_resize(void *memory, size_t size, void *user)
{
    if (memory == NULL)
        atomic_fetch_add((atomic_size_t *)user, 1);
    return realloc(memory, size);
}

static void counting_release(void *memory, void *user)
{
    if (memory != NULL)
        atomic_fetch_sub((atomic_size_t *)user, 1);
    free(memory);
}

static void to_stderr(lx_log_level level, const char *message, void *user)
{
    (void)user;
    fprintf(stderr, "loaderx: %s%s\n", level == LX_LOG_WARNING ? "warning: " : "", message);
}

int main(void)
{
    atomic_size_t blocks = 0;
    lx_allocator allocator = {counting_alloc, counting_resize, NULL, &blocks};
    lx_error error = LX_ERROR_INIT;
    char line[2048];

    /* An allocator without a release function is rejected, and the error says why. */
    if (lx_set_allocator(&allocator, &error) == LX_OK)
        return EXIT_FAILURE;
    lx_error_describe(&error, line, sizeof line);
    printf("%s: %s\n", lx_status_get_name(error.status), line);

    /* An error object keeps the first failure, so clear it before you use it again. */
    lx_error_clear(&error);
    allocator.release = counting_release;
    if (lx_set_allocator(&allocator, &error) != LX_OK) {
        lx_error_describe(&error, line, sizeof line);
        fprintf(stderr, "hooks: %s\n", line);
        return EXIT_FAILURE;
    }
    lx_set_log_hook(to_stderr, NULL);

    /* ... open, read, close ... */

    printf("libloaderx %s holds %zu blocks at the end\n", lx_get_version(), atomic_load(&blocks));
    return atomic_load(&blocks) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

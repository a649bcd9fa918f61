/* SPDX-License-Identifier: MIT */
/* main() of a fuzzer without an engine: runs each named file, or without arguments each member of
 * the fuzzer's tar in the corpus. Reports the input that takes too long or crashes. */
#include <signal.h>
#include <unistd.h>

#include "../tar.h"
#include "fuzz.h"

/* Some fuzzers use the inputs of another one. */
#ifndef FUZZ_CORPUS
#define FUZZ_CORPUS FUZZ_NAME
#endif

/* Longest time for one input, in seconds; sanitizers make it ten times slower. */
#define TIMEOUT 60

static char now[4200];
static unsigned long runs;

static void report(int number)
{
    (void)!write(STDERR_FILENO, now, strlen(now));
    (void)!write(STDERR_FILENO, number == SIGALRM ? ": it hangs\n" : ": it crashed\n",
                 number == SIGALRM ? 11 : 13);
    signal(number, SIG_DFL);
    raise(number);
}

static void run(const char *name, const uint8_t *data, size_t size)
{
    snprintf(now, sizeof now, "%s", name);
    /* Exactly as large as the input, so that a sanitizer sees reads after its end. */
    uint8_t *exact = need(malloc(size != 0 ? size : 1));
    if (size != 0)
        memcpy(exact, data, size);
    alarm(TIMEOUT);
    (void)LLVMFuzzerTestOneInput(exact, size);
    alarm(0);
    free(exact);
    runs++;
}

/** Reads a file; the bytes are for free(). */
static uint8_t *read_file(const char *path, size_t *size)
{
    size_t capacity = 0;
    uint8_t *data = NULL;
    FILE *file = fopen(path, "rb");
    *size = 0;
    if (file == NULL)
        give_up(path);
    for (int c; (c = fgetc(file)) != EOF; data[(*size)++] = (uint8_t)c)
        data = grow(data, *size, &capacity, 1);
    fclose(file);
    return data;
}

static void run_file(const char *path)
{
    size_t size;
    uint8_t *data = read_file(path, &size);
    run(path, data, size);
    free(data);
}

static void run_tar(const char *path)
{
    size_t size, at = 0;
    uint8_t *data = read_file(path, &size);
    struct tar_member member;
    while (tar_next(data, size, &at, &member))
        run(member.name, member.data, member.size);
    free(data);
}

int main(int count, char **arguments)
{
    char path[4200];
    const char *top = getenv("top_srcdir");
    signal(SIGALRM, report);
    signal(SIGABRT, report);
#ifndef SANITIZED
    signal(SIGSEGV, report);
    signal(SIGBUS, report);
#endif
    for (int i = 1; i < count; i++)
        run_file(arguments[i]);
    if (count == 1) {
        snprintf(path, sizeof path, "%s/tests/fuzz/corpus/" FUZZ_CORPUS ".tar",
                 top != NULL ? top : ".");
        run_tar(path);
    }
    printf("# " FUZZ_NAME ": %lu passed, 0 failed, 0 skipped\n", runs);
    return runs != 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

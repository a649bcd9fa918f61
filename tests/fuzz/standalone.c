/* SPDX-License-Identifier: MIT */
/* The main of a fuzzer where there is no engine: runs each file that is named, or all that lie in a
 * folder; without a name, in the fuzzer's folder of the corpus. An input that takes too long, or
 * ends the process, is named. */
#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"

/* Some have the inputs of another one. */
#ifndef FUZZ_CORPUS
#define FUZZ_CORPUS FUZZ_NAME
#endif

/* For one input, in seconds; sanitizers make it ten times slower. */
#define TIMEOUT 60

static char now[4200];
static unsigned long runs;

static void tell(int number)
{
    (void)!write(STDERR_FILENO, now, strlen(now));
    (void)!write(STDERR_FILENO, number == SIGALRM ? ": it hangs\n" : ": it crashed\n",
                 number == SIGALRM ? 11 : 13);
    signal(number, SIG_DFL);
    raise(number);
}

static void run_file(const char *path)
{
    size_t size = 0, capacity = 0;
    uint8_t *data = NULL;
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        give_up(path);
    snprintf(now, sizeof now, "%s", path);
    for (int c; (c = fgetc(file)) != EOF; data[size++] = (uint8_t)c)
        data = grow(data, size, &capacity, 1);
    fclose(file);
    /* Exactly as large as the input, so that a sanitizer sees who reads beyond it. */
    uint8_t *exact = need(malloc(size != 0 ? size : 1));
    if (size != 0)
        memcpy(exact, data, size);
    alarm(TIMEOUT);
    (void)LLVMFuzzerTestOneInput(exact, size);
    alarm(0);
    free(exact);
    free(data);
    runs++;
}

static void run(const char *path)
{
    struct stat about;
    struct dirent **list;
    char inner[4200];
    if (stat(path, &about) == -1)
        give_up(path);
    if (!S_ISDIR(about.st_mode)) {
        run_file(path);
        return;
    }
    int count = scandir(path, &list, NULL, alphasort);
    if (count == -1)
        give_up(path);
    for (int i = 0; i < count; i++) {
        snprintf(inner, sizeof inner, "%s/%s", path, list[i]->d_name);
        if (list[i]->d_name[0] != '.')
            run_file(inner);
        free(list[i]);
    }
    free(list);
}

int main(int count, char **arguments)
{
    char folder[4200];
    const char *top = getenv("top_srcdir");
    signal(SIGALRM, tell);
    signal(SIGABRT, tell);
#ifndef SANITIZED
    signal(SIGSEGV, tell);
    signal(SIGBUS, tell);
#endif
    for (int i = 1; i < count; i++)
        run(arguments[i]);
    if (count == 1) {
        snprintf(folder, sizeof folder, "%s/tests/fuzz/corpus/%s", top != NULL ? top : ".",
                 FUZZ_CORPUS);
        run(folder);
    }
    printf("# " FUZZ_NAME ": %lu passed, 0 failed, 0 skipped\n", runs);
    return runs != 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* SPDX-License-Identifier: MIT */
/* Reads ranges through the transport for HTTP, for tests:
 *
 *     read-ranges URL [--endpoint URL] [--region NAME] [--anonymous] [--stall N]
 *         [--token TEXT]... [--keys TEXT]
 *
 * Each line of standard input is "read OFFSET SIZE NAME", or "interrupt MS": the next read is
 * interrupted after this time. Each answer is a line of JSON. With several tokens, each renewal
 * returns the next one, with the text of --keys as access key and secret. */
#include <jansson.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "executor/clock.h"
#include "remote/http/transport-http.h"

/** Bytes after the range, which must not change. */
#define GUARD 64
#define MOST_TOKENS 8

struct tokens {
    const char *text[MOST_TOKENS], *keys;
    unsigned count, used;
};

static lx_status next_token(void *user, lx_credentials *credentials, lx_error *error)
{
    struct tokens *tokens = user;
    (void)error;
    const char *text = tokens->text[tokens->used];
    if (tokens->used + 1 < tokens->count)
        tokens->used++;
    snprintf(credentials->token, sizeof credentials->token, "%s", text);
    if (tokens->keys != NULL) {
        snprintf(credentials->access_key, sizeof credentials->access_key, "%s", tokens->keys);
        snprintf(credentials->secret_key, sizeof credentials->secret_key, "%s", tokens->keys);
    }
    return LX_OK;
}

static void *interrupt_later(void *user)
{
    lx__transport *transport = ((void **)user)[0];
    unsigned ms = *(unsigned *)((void **)user)[1];
    nanosleep(&(struct timespec){ms / 1000, (long)(ms % 1000) * 1000000}, NULL);
    transport->class->interrupt(transport);
    return NULL;
}

static void print_answer(lx_status status, const lx__answer *answer, const lx_error *error,
                         const uint8_t *data, size_t size, uint64_t took)
{
    char text[2048];
    bool guarded = true;
    for (size_t i = 0; i < GUARD; i++)
        guarded = guarded && data[size + i] == 0xa5;
    lx_error_describe(error, text, sizeof text);
    json_t *line = json_pack(
        "{s:s, s:I, s:I, s:i, s:f, s:s, s:b, s:I, s:f}", "status",
        status == LX_OK ? "LX_OK" : lx_status_get_name(status), "got", (json_int_t)answer->got,
        "total", answer->total == LX_NONE ? (json_int_t)-1 : (json_int_t)answer->total, "retry",
        (int)answer->retry, "retry_after", (double)answer->retry_after_ns / 1e9, "error", text,
        "guarded", (int)guarded, "crc", (json_int_t)lx__crc32c(0, data, answer->got), "seconds",
        (double)took / 1e9);
    json_dumpf(line, stdout, 0);
    json_decref(line);
    putchar('\n');
    fflush(stdout);
}

static void read_range(lx__connection *connection, const char *name, uint64_t offset, size_t size)
{
    lx_error error = LX_ERROR_INIT;
    lx__answer answer;
    uint8_t *data = malloc(size + GUARD);
    memset(data, 0xa5, size + GUARD);
    uint64_t begin = lx__clock_now();
    lx_status status = connection->transport->class->read(connection, name, offset, size, data,
                                                          &answer, &error);
    print_answer(status, &answer, &error, data, size, lx__clock_now() - begin);
    free(data);
}

static void obey(lx__transport *transport, lx__connection *connection)
{
    char line[4096];
    pthread_t thread;
    unsigned ms;
    void *both[] = {transport, &ms};
    bool interrupts = false;
    while (fgets(line, sizeof line, stdin) != NULL) {
        unsigned long long offset;
        size_t size;
        int at = 0;
        line[strcspn(line, "\n")] = '\0';
        if (sscanf(line, "interrupt %u", &ms) == 1)
            interrupts = pthread_create(&thread, NULL, interrupt_later, both) == 0;
        else if (sscanf(line, "read %llu %zu %n", &offset, &size, &at) == 2 && at > 0)
            read_range(connection, line + at, offset, size);
        else
            exit(2);
    }
    if (interrupts)
        pthread_join(thread, NULL);
}

static void parse(int argc, char **argv, lx__http_options *options, struct tokens *tokens)
{
    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], "--anonymous") == 0) {
            options->anonymous = true;
            continue;
        }
        if (i + 1 == argc)
            exit(2);
        const char *option = argv[i++];
        if (strcmp(option, "--endpoint") == 0)
            options->endpoint = argv[i];
        else if (strcmp(option, "--region") == 0)
            options->region = argv[i];
        else if (strcmp(option, "--stall") == 0)
            options->stall_seconds = (unsigned)atoi(argv[i]);
        else if (strcmp(option, "--keys") == 0)
            tokens->keys = argv[i];
        else if (strcmp(option, "--token") == 0 && tokens->count < MOST_TOKENS)
            tokens->text[tokens->count++] = argv[i];
        else
            exit(2);
    }
    if (tokens->count > 0) {
        options->get_credentials = next_token;
        options->user = tokens;
    }
}

int main(int argc, char **argv)
{
    lx_error error = LX_ERROR_INIT;
    lx__http_options options = {0};
    struct tokens tokens = {.count = 0};
    lx__transport *transport;
    lx__connection *connection;
    if (argc < 2)
        return 2;
    parse(argc, argv, &options, &tokens);
    if (lx__transport_http_open(argv[1], &options, &transport, &error) != LX_OK ||
        transport->class->connect(transport, &connection, &error) != LX_OK) {
        fprintf(stderr, "%s: %s\n", lx_status_get_name(error.status), error.message);
        return 1;
    }
    obey(transport, connection);
    transport->class->disconnect(connection);
    transport->class->close(transport);
    return 0;
}

/* SPDX-License-Identifier: MIT */
/* Reads ranges and writes files through the transport for HTTP or for directories, for tests:
 *
 *     read-ranges URL [--endpoint URL] [--region NAME] [--anonymous] [--stall N]
 *         [--token TEXT]... [--keys TEXT] [--tier URL]... [--libcurl-8.14]
 *
 * Each line of standard input is one of
 *
 *     read OFFSET SIZE NAME
 *     past OFFSET SIZE NAME         read past the tier
 *     put SEED SIZE NAME            the bytes are made from the seed
 *     new SEED SIZE NAME            put it only if there is no such file
 *     replace SEED SIZE ETAG NAME   put it only if the file has the ETag
 *     upload SEED SIZE PART NAME    put it in parts of PART bytes, the last one first
 *     begin NAME                    begin an upload, and leave it
 *     complete NAME                 complete an upload that does not exist
 *     abandon BEFORE                abandon uploads; -1: all
 *     stat NAME
 *     list FOLDER
 *     remove NAME
 *     interrupt MS                  the next request is interrupted after this time
 *
 * Each answer is a line of JSON; what is logged goes to standard error. With several tokens, each renewal returns the next one, with the
 * text of --keys as access key and secret. */
#include <curl/curl.h>
#include <jansson.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <loaderx/hooks.h>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "executor/clock.h"
#include "remote/http/transport-http.h"
#include "remote/transport/transport-file.h"
#include "remote/transport/transport-writing.h"

/** Bytes after the range, which must not change. */
#define GUARD 64
#define MOST_TOKENS 8
#define MOST_NODES 8

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

static void print_message(lx_log_level level, const char *message, void *user)
{
    (void)level, (void)user;
    fprintf(stderr, "%s\n", message);
}

/** Prints an answer, with further members, which are released. */
static void print_answer(lx_status status, const lx__answer *answer, const lx_error *error,
                         json_t *more)
{
    char text[2048];
    lx_error_describe(error, text, sizeof text);
    json_t *line = json_pack(
        "{s:s, s:I, s:I, s:i, s:f, s:s}", "status",
        status == LX_OK ? "LX_OK" : lx_status_get_name(status), "got", (json_int_t)answer->got,
        "total", answer->total == LX_NONE ? (json_int_t)-1 : (json_int_t)answer->total, "retry",
        (int)answer->retry, "retry_after", (double)answer->retry_after_ns / 1e9, "error", text);
    json_object_update(line, more);
    json_decref(more);
    json_dumpf(line, stdout, 0);
    json_decref(line);
    putchar('\n');
    fflush(stdout);
}

static void read_range(lx__connection *connection, const char *name, uint64_t offset, size_t size,
                       bool past_tier)
{
    lx_error error = LX_ERROR_INIT;
    lx__answer answer;
    uint8_t *data = malloc(size + GUARD);
    memset(data, 0xa5, size + GUARD);
    uint64_t begin = lx__clock_now();
    connection->past_tier = past_tier;
    lx_status status = connection->transport->class->read(connection, name, offset, size, data,
                                                          &answer, &error);
    bool guarded = true;
    for (size_t i = 0; i < GUARD; i++)
        guarded = guarded && data[size + i] == 0xa5;
    print_answer(status, &answer, &error,
                 json_pack("{s:b, s:b, s:I, s:f}", "guarded", (int)guarded, "tier",
                           (int)answer.from_tier, "crc",
                           (json_int_t)lx__crc32c(0, data, answer.got), "seconds",
                           (double)(lx__clock_now() - begin) / 1e9));
    free(data);
}

/* ---- writing */

static uint8_t *make_bytes(unsigned seed, size_t size)
{
    uint8_t *data = malloc(size + 1);
    for (size_t i = 0; i < size; i++)
        data[i] = (uint8_t)(i * 31 + (i >> 8) * 7 + seed);
    return data;
}

static json_t *pack_written(const uint8_t *data, size_t size, uint64_t begin)
{
    return json_pack("{s:I, s:f}", "crc", (json_int_t)lx__crc32c(0, data, size), "seconds",
                     (double)(lx__clock_now() - begin) / 1e9);
}

static void put(lx__connection *connection, const char *name, unsigned seed, size_t size,
                lx__precondition precondition, const char *etag)
{
    lx_error error = LX_ERROR_INIT;
    lx__answer answer;
    uint8_t *data = make_bytes(seed, size);
    uint64_t begin = lx__clock_now();
    lx_status status = connection->transport->class->writing->put(
        connection, name, data, size, precondition, etag, &answer, &error);
    print_answer(status, &answer, &error, pack_written(data, size, begin));
    free(data);
}

static void upload(lx__connection *connection, const char *name, unsigned seed, size_t size,
                   size_t part, lx__precondition precondition, const char *etag)
{
    const lx__transport_writing *writing = connection->transport->class->writing;
    lx_error error = LX_ERROR_INIT;
    lx__answer answer;
    char id[LX__UPLOAD_SIZE];
    uint8_t *data = make_bytes(seed, size);
    uint32_t count = (uint32_t)((size + part - 1) / part);
    lx__uploaded_part *parts = calloc(count, sizeof *parts);
    uint64_t begin = lx__clock_now();
    lx_status status = writing->begin(connection, name, size, id, &answer, &error);
    for (uint32_t i = count; status == LX_OK && i-- > 0;) {
        size_t at = i * part, length = size - at < part ? size - at : part;
        status = writing->put_part(connection, name, id, i, at, data + at, length, &parts[i],
                                   &answer, &error);
    }
    if (status == LX_OK)
        status = writing->complete(connection, name, id, parts, count, precondition, etag, &answer,
                                   &error);
    print_answer(status, &answer, &error, pack_written(data, size, begin));
    free(parts);
    free(data);
}

static lx_status add_file(void *user, const char *name, const lx__remote_info *info,
                          lx_error *error)
{
    (void)error;
    json_object_set_new(user, name, json_integer((json_int_t)info->bytes));
    return LX_OK;
}

/** All uploads may be abandoned. */
static bool is_any(const void *user, const char *name)
{
    (void)user, (void)name;
    return true;
}

/** Obeys a command that has nothing but a name; false if there is none such. */
static bool obey_simple(lx__connection *connection, const char *verb, const char *name)
{
    const lx__transport_writing *writing = connection->transport->class->writing;
    lx_error error = LX_ERROR_INIT;
    lx__answer answer;
    lx__remote_info info = {0};
    char id[LX__UPLOAD_SIZE] = "bm9uZQ";
    json_t *more = json_object(), *files = json_object();
    lx_status status;
    if (strcmp(verb, "stat") == 0)
        status = writing->stat(connection, name, &info, &answer, &error);
    else if (strcmp(verb, "list") == 0)
        status = writing->list(connection, name, add_file, files, &answer, &error);
    else if (strcmp(verb, "remove") == 0)
        status = writing->remove(connection, name, &answer, &error);
    else if (strcmp(verb, "begin") == 0)
        status = writing->begin(connection, name, 10, id, &answer, &error);
    else if (strcmp(verb, "complete") == 0)
        status = writing->complete(connection, name, id, &(lx__uploaded_part){.etag = "\"a\""}, 1,
                                   LX__WRITE_ALWAYS, NULL, &answer, &error);
    else if (strcmp(verb, "abandon") == 0)
        status = writing->abandon_all(connection, strtoull(name, NULL, 10), is_any, NULL, &answer,
                                      &error);
    else
        return false;
    json_object_set_new(more, "bytes", json_integer((json_int_t)info.bytes));
    json_object_set_new(more, "modified", json_integer((json_int_t)info.modified));
    json_object_set_new(more, "etag", json_string(info.etag));
    json_object_set_new(more, "files", files);
    print_answer(status, &answer, &error, more);
    return true;
}

/** Obeys a command that writes. */
static bool obey_write(lx__connection *connection, char *line)
{
    unsigned seed;
    size_t size, part;
    char etag[LX__ETAG_SIZE];
    int at = 0;
    if (sscanf(line, "put %u %zu %n", &seed, &size, &at) == 2 && at > 0)
        put(connection, line + at, seed, size, LX__WRITE_ALWAYS, NULL);
    else if (sscanf(line, "new %u %zu %n", &seed, &size, &at) == 2 && at > 0)
        put(connection, line + at, seed, size, LX__WRITE_IF_ABSENT, NULL);
    else if (sscanf(line, "replace %u %zu %255s %n", &seed, &size, etag, &at) == 3 && at > 0)
        put(connection, line + at, seed, size, LX__WRITE_IF_MATCH, etag);
    else if (sscanf(line, "upload %u %zu %zu %n", &seed, &size, &part, &at) == 3 && at > 0)
        upload(connection, line + at, seed, size, part, LX__WRITE_ALWAYS, NULL);
    else if (sscanf(line, "upload-new %u %zu %zu %n", &seed, &size, &part, &at) == 3 && at > 0)
        upload(connection, line + at, seed, size, part, LX__WRITE_IF_ABSENT, NULL);
    else if (sscanf(line, "upload-replace %u %zu %zu %255s %n", &seed, &size, &part, etag, &at) ==
                 4 &&
             at > 0)
        upload(connection, line + at, seed, size, part, LX__WRITE_IF_MATCH, etag);
    else {
        char *name = line + strcspn(line, " ");
        if (*name != '\0')
            *name++ = '\0';
        return obey_simple(connection, line, name);
    }
    return true;
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
            read_range(connection, line + at, offset, size, false);
        else if (sscanf(line, "past %llu %zu %n", &offset, &size, &at) == 2 && at > 0)
            read_range(connection, line + at, offset, size, true);
        else if (!obey_write(connection, line))
            exit(2);
    }
    if (interrupts)
        pthread_join(thread, NULL);
}

static void parse(int argc, char **argv, lx__http_options *options, struct tokens *tokens)
{
    const char *nodes[MOST_NODES];
    size_t node_count = 0;
    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], "--anonymous") == 0) {
            options->anonymous = true;
            continue;
        }
        if (strcmp(argv[i], "--libcurl-8.14") == 0) { /* libcurl always returns the same struct */
            curl_version_info(CURLVERSION_NOW)->version_num = 0x080e00;
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
        else if (strcmp(option, "--tier") == 0 && node_count < MOST_NODES)
            nodes[node_count++] = argv[i];
        else if (strcmp(option, "--token") == 0 && tokens->count < MOST_TOKENS)
            tokens->text[tokens->count++] = argv[i];
        else
            exit(2);
    }
    if (lx__tier_open(&options->tier, nodes, node_count, NULL) != LX_OK)
        exit(2);
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
    lx_set_log_hook(print_message, NULL);
    lx_status status = strncmp(argv[1], "file://", 7) == 0
                           ? lx__transport_file_open_for_writing(argv[1] + 7, &transport, &error)
                           : lx__transport_http_open(argv[1], &options, &transport, &error);
    if (status != LX_OK || transport->class->connect(transport, &connection, &error) != LX_OK) {
        fprintf(stderr, "%s: %s\n", lx_status_get_name(error.status), error.message);
        return 1;
    }
    obey(transport, connection);
    transport->class->disconnect(connection);
    transport->class->close(transport);
    lx__tier_close(&options.tier);
    return 0;
}

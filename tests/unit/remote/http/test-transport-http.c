/* SPDX-License-Identifier: MIT */
/* Readers of a server that never answers. What servers answer is tested in tests/remote. */
#include "remote/http/transport-http.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <sys/socket.h>

#include "executor/clock.h"
#include "remote/transport/transport-writing.h"

#include "../../scarce.h"
#include "../../unit.h"

#define READERS 4

/** Makes a server that accepts connections and is silent; returns a transport to it. */
static lx__transport *open_silent(int *listener)
{
    lx_error error = LX_ERROR_INIT;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    char url[64];
    setenv("no_proxy", "*", 1);
    *listener = socket(AF_INET, SOCK_STREAM, 0);
    ck_assert_int_eq(bind(*listener, (struct sockaddr *)&address, size), 0);
    ck_assert_int_eq(listen(*listener, READERS + 1), 0);
    ck_assert_int_eq(getsockname(*listener, (struct sockaddr *)&address, &size), 0);
    snprintf(url, sizeof url, "http://127.0.0.1:%d/dataset/", ntohs(address.sin_port));
    lx__transport *transport;
    unit_ok(lx__transport_http_open(url, NULL, &transport, &error));
    ck_assert_int_eq(transport->url[strlen(transport->url) - 1], 't');
    return transport;
}

/** A thread with its connection. */
struct reader {
    lx__connection *connection;
    pthread_t thread;
    atomic_bool done;
    lx_status status;
    lx__answer answer;
};

static void *read_one(void *user)
{
    struct reader *reader = user;
    uint8_t data[10];
    reader->status = reader->connection->transport->class->read(reader->connection, "f", 0, 10,
                                                                data, &reader->answer, NULL);
    atomic_store(&reader->done, true);
    return NULL;
}

static void start(lx__transport *transport, struct reader *reader)
{
    lx_error error = LX_ERROR_INIT;
    *reader = (struct reader){.status = LX_OK};
    unit_ok(transport->class->connect(transport, &reader->connection, &error));
    ck_assert_int_eq(pthread_create(&reader->thread, NULL, read_one, reader), 0);
}

static void join(struct reader *reader)
{
    pthread_join(reader->thread, NULL);
    ck_assert_int_eq(reader->status, LX_ERR_CANCELED);
    reader->connection->transport->class->disconnect(reader->connection);
}

START_TEST(interrupts_all_reads)
{
    int listener;
    struct reader readers[READERS];
    lx__transport *transport = open_silent(&listener);
    for (int i = 0; i < READERS; i++)
        start(transport, &readers[i]);
    usleep(100000);
    for (int i = 0; i < READERS; i++)
        ck_assert(!atomic_load(&readers[i].done));
    transport->class->interrupt(transport);
    for (int i = 0; i < READERS; i++)
        join(&readers[i]);
    start(transport, &readers[0]); /* now and later */
    join(&readers[0]);
    transport->class->close(transport);
    close(listener);
}
END_TEST

/** In a child: interrupts all reads, and reads. */
static void read_in_child(lx__transport *transport)
{
    struct reader reader = {.status = LX_OK};
    if (transport->class->connect(transport, &reader.connection, NULL) != LX_OK)
        _exit(1);
    transport->class->interrupt(transport);
    read_one(&reader);
    transport->class->disconnect(reader.connection);
    _exit(reader.status == LX_ERR_CANCELED ? 0 : 2);
}

START_TEST(a_child_has_its_own_connections)
{
    int listener;
    struct reader reader;
    lx__transport *transport = open_silent(&listener);
    start(transport, &reader);
    usleep(50000);
    if (unit_in_child())
        read_in_child(transport);
    usleep(50000);
    ck_assert(!atomic_load(&reader.done)); /* the child has not interrupted it */
    transport->class->interrupt(transport);
    join(&reader);
    transport->class->close(transport);
    close(listener);
}
END_TEST

START_TEST(refuses_ranges_that_are_invalid)
{
    int listener;
    uint8_t data[1];
    lx_error error = LX_ERROR_INIT;
    lx__answer answer;
    lx__connection *connection;
    lx__transport *transport = open_silent(&listener);
    unit_ok(transport->class->connect(transport, &connection, &error));
    unit_fails(transport->class->read(connection, "f", 0, 0, data, &answer, &error),
               LX_ERR_ARGUMENT);
    unit_fails(transport->class->read(connection, "f", INT64_MAX, 1, data, &answer, &error),
               LX_ERR_ARGUMENT);
    transport->class->disconnect(connection);
    transport->class->close(transport);
    close(listener);
}
END_TEST

/** Opens a transport and reads from a port that is closed. Returns the first failure. */
static lx_status open_and_read(const lx__http_options *options)
{
    uint8_t data[10];
    lx__answer answer;
    lx__transport *transport;
    lx__connection *connection;
    lx_status status = lx__transport_http_open("s3://bucket/prefix", options, &transport, NULL);
    if (status != LX_OK)
        return status;
    status = transport->class->connect(transport, &connection, NULL);
    if (status == LX_OK) {
        status = transport->class->read(connection, "f", 0, 10, data, &answer, NULL);
        transport->class->disconnect(connection);
    }
    transport->class->close(transport);
    return status;
}

START_TEST(survives_a_lack_of_memory)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    char url[64];
    int closed = socket(AF_INET, SOCK_STREAM, 0);
    ck_assert_int_eq(bind(closed, (struct sockaddr *)&address, size), 0);
    ck_assert_int_eq(getsockname(closed, (struct sockaddr *)&address, &size), 0);
    snprintf(url, sizeof url, "http://127.0.0.1:%d", ntohs(address.sin_port));
    lx__http_options options = {.endpoint = url};
    setenv("no_proxy", "*", 1);
    setenv("AWS_ACCESS_KEY_ID", "key", 1);
    setenv("AWS_SECRET_ACCESS_KEY", "secret", 1);
    setenv("SSL_CERT_FILE", "none", 1);
    int left = 0;
    for (;; left++) {
        scarce_begin(left);
        lx_status status = open_and_read(&options);
        if (status == LX_ERR_IO)
            break;
        ck_assert_int_eq(status, LX_ERR_NOMEM);
        ck_assert_int_lt(left, 1000);
    }
    ck_assert_int_gt(left, 10);
    close(closed);
}
END_TEST

START_TEST(only_s3_can_be_written)
{
    static const char *const urls[] = {"http://h/a", "https://h/a?x", "s3://b/a"};
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        lx_error error = LX_ERROR_INIT;
        lx__transport *transport;
        unit_ok(lx__transport_http_open(urls[i], NULL, &transport, &error));
        const lx__transport_writing *writing = transport->class->writing;
        ck_assert((writing != NULL) == (i == 2));
        if (writing != NULL) {
            ck_assert_uint_eq(writing->get_part_size(transport, 0), (size_t)8 << 20);
            ck_assert_uint_eq(writing->get_part_size(transport, (uint64_t)80000 << 20),
                              (size_t)9 << 20);
            ck_assert_uint_eq(writing->get_part_size(transport, ((uint64_t)80000 << 20) - 1),
                              (size_t)8 << 20);
        }
        transport->class->close(transport);
    }
}
END_TEST

UNIT_MAIN("remote/http/transport-http", only_s3_can_be_written, interrupts_all_reads,
          a_child_has_its_own_connections, refuses_ranges_that_are_invalid,
          survives_a_lack_of_memory)

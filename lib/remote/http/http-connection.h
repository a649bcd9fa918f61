/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The transport for HTTP and its connections, which another thread can interrupt.
 */
#ifndef LX_REMOTE_HTTP_CONNECTION_H
#define LX_REMOTE_HTTP_CONNECTION_H

#include <pthread.h>

#include "base/process.h"
#include "remote/http/credentials.h"
#include "remote/http/etags.h"
#include "remote/http/http-client.h"
#include "remote/http/http-location.h"
#include "remote/http/tier.h"
#include "remote/transport/transport-writing.h"

/** A connection, in the list of its transport. */
typedef struct lx__http_connection {
    lx__connection base;
    lx__http_client client;
    bool fresh; /**< The last attempt failed: the next one uses a new connection. */
    struct lx__http_connection *before, *after;
} lx__http_connection;

typedef struct lx__transport_http {
    lx__transport base;
    lx__aws_environment environment; /**< Empty unless the URL is of S3. */
    lx__http_location location;
    lx__credentials credentials;
    lx__etags etags;
    lx__tier tier;
    _Atomic uint32_t version; /**< Of the dataset: a checksum of meta.json; 0: it was not read. */
    char signing[96];         /**< For CURLOPT_AWS_SIGV4. */
    char *ca_bundle;          /**< May be NULL. */
    unsigned stall_seconds;
    atomic_bool stop;
    lx__process process;

    pthread_mutex_t lock;             /**< For the list of connections. */
    lx__http_connection *connections; /**< Those to wake. */
} lx__transport_http;

/** Begins the part of a transport that these functions use. */
void lx__http_connections_open(lx__transport_http *self);

/** @name Functions of the class of the transport */
/** @{ */
lx_status lx__http_connect(lx__transport *base, lx__connection **made, lx_error *error);
void lx__http_disconnect(lx__connection *base);
void lx__http_interrupt(lx__transport *base);
/** @} */

/** The functions that write to S3: s3-writing.c. */
extern const lx__transport_writing lx__s3_writing;

#endif

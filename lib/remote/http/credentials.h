/* SPDX-License-Identifier: MIT */
/**
 * @file
 * @brief The credentials of a transport, which are renewed before they expire and when a server has
 * refused them. Any thread may use them; one of them renews.
 */
#ifndef LX_REMOTE_CREDENTIALS_H
#define LX_REMOTE_CREDENTIALS_H

#include <pthread.h>
#include <stdint.h>

#include "remote/http/aws-environment.h"
#include "remote/http/http-client.h"
#include "remote/http/http-options.h"

typedef struct lx__credentials {
    const lx__aws_environment *environment; /**< Borrowed. NULL: nothing but the callback. */
    lx_get_credentials callback;            /**< May be NULL. */
    void *user;

    pthread_mutex_t lock;   /**< For the members below; held while they are renewed. */
    lx_credentials current; /**< Zeros if there are none. */
    uint64_t version;       /**< Number of different credentials that there were. */
    uint64_t renew_at;      /**< When to renew them, in seconds since 1970; LX_NONE: never. */
} lx__credentials;

/** Opens credentials, without looking for any. @p environment is NULL for servers that must not get
 * keys of AWS. */
void lx__credentials_open(lx__credentials *self, const lx__http_options *options,
                          const lx__aws_environment *environment);
void lx__credentials_close(lx__credentials *self);

/** In a child of fork(): forgets the credentials, which a thread of the parent may have been
 * renewing. */
void lx__credentials_take_over(lx__credentials *self);

/**
 * Copies the credentials, after renewing them if necessary.
 *
 * @param client   For services that have credentials.
 * @param refused  The version that the server has refused; 0: none. If the returned @p version is
 *                 the same, there are no better ones.
 * @param copy     Receives them; the caller wipes it. All zero: none are needed.
 * @return The statuses of lx__credential_sources_ask() and of the callback.
 */
lx_status lx__credentials_get(lx__credentials *self, lx__http_client *client, uint64_t refused,
                              lx_credentials *copy, uint64_t *version, lx_error *error);

#endif

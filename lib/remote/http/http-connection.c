/* SPDX-License-Identifier: MIT */
#include "remote/http/http-connection.h"

#include "base/alloc.h"
#include "base/error.h"

void lx__http_connections_open(lx__transport_http *self)
{
    atomic_init(&self->stop, false);
    pthread_mutex_init(&self->lock, NULL);
    lx__process_record(&self->process);
}

/** In a child of fork(): threads of the parent may have held the locks, and changed what they are
 * for. The connections are the parent's; ETags and credentials are asked for again. */
static void take_over(lx__transport_http *self)
{
    if (!lx__process_take_over(&self->process))
        return;
    pthread_mutex_init(&self->lock, NULL);
    self->connections = NULL;
    lx__etags_open(&self->etags);
    lx__credentials_take_over(&self->credentials);
    lx__process_adopt(&self->process);
}

lx_status lx__http_connect(lx__transport *base, lx__connection **made, lx_error *error)
{
    lx__transport_http *self = (lx__transport_http *)base;
    lx__http_connection *connection = lx__alloc_array(1, sizeof *connection);
    *made = NULL;
    take_over(self);
    if (connection == NULL)
        return lx__fail_memory(error, "a connection");
    lx_status status = lx__http_client_open(&connection->client, &self->stop, error);
    if (status != LX_OK) {
        lx__free(connection);
        return status;
    }
    connection->base.transport = base;
    pthread_mutex_lock(&self->lock);
    connection->after = self->connections;
    if (connection->after != NULL)
        connection->after->before = connection;
    self->connections = connection;
    pthread_mutex_unlock(&self->lock);
    *made = &connection->base;
    return LX_OK;
}

void lx__http_disconnect(lx__connection *base)
{
    lx__http_connection *connection = (lx__http_connection *)base;
    lx__transport_http *self = (lx__transport_http *)base->transport;
    pthread_mutex_lock(&self->lock);
    if (connection->before != NULL)
        connection->before->after = connection->after;
    else
        self->connections = connection->after;
    if (connection->after != NULL)
        connection->after->before = connection->before;
    pthread_mutex_unlock(&self->lock);
    lx__http_client_close(&connection->client);
    lx__free(connection);
}

void lx__http_interrupt(lx__transport *base)
{
    lx__transport_http *self = (lx__transport_http *)base;
    take_over(self);
    atomic_store(&self->stop, true);
    pthread_mutex_lock(&self->lock);
    for (const lx__http_connection *at = self->connections; at != NULL; at = at->after)
        lx__http_client_wake(&at->client);
    pthread_mutex_unlock(&self->lock);
}

/* SPDX-License-Identifier: MIT */
#include "remote/push/target.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "executor/clock.h"

/* How often a waiting call looks whether it was canceled. */
#define LOOK_NS ((uint64_t)50 * 1000 * 1000)

lx_status lx__target_open(lx__target *target, lx__transport *transport,
                          const lx__request_limits *limits, lx_error *error)
{
    *target = (lx__target){.transport = transport,
                           .writing = transport->class->writing,
                           .connections = limits->connections};
    if (target->writing == NULL) {
        lx_status status = lx_fail(error, LX_ERR_UNSUPPORTED,
                                   "the place can only be read: use a URL of s3:// or file://");
        lx_error_locate(error, transport->url, NULL, LX_NONE, LX_NONE);
        transport->class->close(transport);
        return status;
    }
    lx_status status = lx__request_queue_open(transport, limits, &target->queue, error);
    if (status == LX_OK) {
        pthread_mutex_init(&target->lock, NULL);
        lx__clock_condition(&target->changed);
    }
    return status;
}

void lx__target_cancel(lx__target *target)
{
    lx__request_queue_close(target->queue);
    target->queue = NULL;
}

void lx__target_close(lx__target *target)
{
    if (target->connections == 0)
        return;
    lx__target_cancel(target);
    pthread_cond_destroy(&target->changed);
    pthread_mutex_destroy(&target->lock);
    target->connections = 0;
}

/* ---- jobs */

static bool begin(lx__request *request)
{
    (void)request;
    return true;
}

static void finish(lx__request *request, lx_status status, const uint8_t *data,
                   const lx__answer *answer, const lx_error *why)
{
    lx__job *job = (lx__job *)request;
    lx__target *target = job->target;
    (void)data, (void)answer;
    pthread_mutex_lock(&target->lock);
    job->status = status;
    if (why != NULL)
        job->why = *why;
    job->done = target->news = true; /* the owner may free the job once the lock is released */
    pthread_cond_signal(&target->changed);
    pthread_mutex_unlock(&target->lock);
}

lx_status lx__target_start(lx__target *target, lx__job *job, lx__attempt *attempt, size_t size,
                           lx_error *error)
{
    if (target->queue == NULL)
        return lx_fail(error, LX_ERR_CANCELED, "it was canceled");
    job->target = target;
    job->done = false;
    job->why = (lx_error)LX_ERROR_INIT;
    job->request = (lx__request){
        .name = "", .size = size, .attempt = attempt, .begin = begin, .finish = finish};
    return lx__request_queue_add(target->queue, &job->request, error);
}

bool lx__target_is_done(lx__target *target, const lx__job *job)
{
    pthread_mutex_lock(&target->lock);
    bool done = job->done;
    pthread_mutex_unlock(&target->lock);
    return done;
}

lx_status lx__target_check(lx__target *target, lx_error *error)
{
    lx_status status = target->check != NULL ? target->check(target->user, error) : LX_OK;
    if (status != LX_OK)
        lx__target_cancel(target);
    return status;
}

lx_status lx__target_wait(lx__target *target, lx_error *error)
{
    pthread_mutex_lock(&target->lock);
    if (!target->news)
        lx__clock_wait(&target->changed, &target->lock, lx__clock_after(LOOK_NS));
    target->news = false;
    pthread_mutex_unlock(&target->lock);
    return lx__target_check(target, error);
}

lx_status lx__target_run(lx__target *target, lx__job *job, lx__attempt *attempt, lx_error *error)
{
    lx_status status = lx__target_start(target, job, attempt, 0, error);
    while (status == LX_OK && !lx__target_is_done(target, job))
        status = lx__target_wait(target, error);
    if (status == LX_OK && job->status != LX_OK) {
        status = job->status;
        lx__error_propagate(error, &job->why);
    }
    return status;
}

/* ---- small requests */

/** The arguments of one of them. */
typedef struct call {
    lx__job job; /* must be first */
    const char *name;
    const char *data; /* to put */
    size_t size;      /* of these; or the most to read */
    lx__precondition precondition;
    const char *etag;
    lx__visit_remote *visit;
    void *user;
    uint64_t before;
    lx__is_ours *is_ours;
    const void *owner; /* who is asked */
    char *found;       /* what was read */
    lx__remote_info info;
} call;

/** Reads a file after what describes it, so that the ETag is not that of a newer file: a
 * precondition with it cannot be true of a file that was not read. */
static lx_status read_file(lx__request *request, lx__connection *connection, lx__answer *answer,
                           lx_error *error)
{
    call *self = (call *)request;
    lx__transport *transport = connection->transport;
    lx__free(self->found);
    self->found = NULL;
    lx_status status = self->job.target->writing->stat(connection, self->name, &self->info, answer,
                                                       error);
    if (status != LX_OK)
        return status;
    if (self->info.bytes > self->size)
        return lx_fail(error, LX_ERR_CORRUPT, "%s has more than %zu bytes", self->name, self->size);
    size_t size = (size_t)self->info.bytes;
    self->found = lx__alloc(size + 1);
    if (self->found == NULL)
        return lx__fail_memory(error, "a remote file");
    if (size != 0)
        status = transport->class->read(connection, self->name, 0, size, (uint8_t *)self->found,
                                        answer, error);
    if (status == LX_OK && size != 0 &&
        (answer->got != size || (answer->total != LX_NONE && answer->total != size))) {
        answer->retry = LX__RETRY_LATER; /* it was replaced by a file of another length */
        return lx_fail(error, LX_ERR_IO, "%s was replaced while it was read", self->name);
    }
    self->found[size] = '\0';
    return status;
}

static lx_status put_file(lx__request *request, lx__connection *connection, lx__answer *answer,
                          lx_error *error)
{
    const call *self = (const call *)request;
    return self->job.target->writing->put(connection, self->name, (const uint8_t *)self->data,
                                          self->size, self->precondition, self->etag, answer,
                                          error);
}

static lx_status remove_file(lx__request *request, lx__connection *connection, lx__answer *answer,
                             lx_error *error)
{
    const call *self = (const call *)request;
    return self->job.target->writing->remove(connection, self->name, answer, error);
}

static lx_status list_files(lx__request *request, lx__connection *connection, lx__answer *answer,
                            lx_error *error)
{
    const call *self = (const call *)request;
    return self->job.target->writing->list(connection, "", self->visit, self->user, answer, error);
}

static lx_status abandon_all(lx__request *request, lx__connection *connection, lx__answer *answer,
                             lx_error *error)
{
    const call *self = (const call *)request;
    return self->job.target->writing->abandon_all(connection, self->before, self->is_ours,
                                                  self->owner, answer, error);
}

lx_status lx__target_read(lx__target *target, const char *name, size_t limit, char **data,
                          lx__remote_info *info, lx_error *error)
{
    call self = {.name = name, .size = limit};
    lx_status status = lx__target_run(target, &self.job, read_file, error);
    if (status == LX_OK) {
        *data = self.found;
        *info = self.info;
        return LX_OK;
    }
    lx__free(self.found);
    return status;
}

lx_status lx__target_put(lx__target *target, const char *name, const char *data, size_t size,
                         lx__precondition precondition, const char *etag, lx_error *error)
{
    call self = {
        .name = name, .data = data, .size = size, .precondition = precondition, .etag = etag};
    return lx__target_run(target, &self.job, put_file, error);
}

lx_status lx__target_remove(lx__target *target, const char *name, lx_error *error)
{
    call self = {.name = name};
    return lx__target_run(target, &self.job, remove_file, error);
}

lx_status lx__target_list(lx__target *target, lx__visit_remote *visit, void *user, lx_error *error)
{
    call self = {.visit = visit, .user = user};
    return lx__target_run(target, &self.job, list_files, error);
}

lx_status lx__target_abandon_all(lx__target *target, uint64_t before, lx__is_ours *is_ours,
                                 const void *user, lx_error *error)
{
    call self = {.before = before, .is_ours = is_ours, .owner = user};
    return lx__target_run(target, &self.job, abandon_all, error);
}

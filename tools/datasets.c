/* SPDX-License-Identifier: MIT */
#include "datasets.h"

#include <pthread.h>
#include <stdatomic.h>

#include "dataset.h"
#include "interrupt.h"

#define THREADS 16

typedef struct opening {
    const char *const *paths;
    size_t count;
    lx_dataset **opened;
    atomic_size_t next;
    atomic_bool failed;
    lx_error error; /* of the thread that has set failed */
} opening;

static void *open_some(void *argument)
{
    opening *self = argument;
    size_t i;
    while (!atomic_load(&self->failed) && (i = atomic_fetch_add(&self->next, 1)) < self->count) {
        lx_error why = LX_ERROR_INIT;
        lx_status status = interrupt_check(&why);
        if (status == LX_OK)
            status = dataset_open(self->paths[i], &self->opened[i], &why);
        if (status != LX_OK && !atomic_exchange(&self->failed, true))
            self->error = why;
    }
    return NULL;
}

lx_status datasets_open(const char *const *paths, size_t count, lx_dataset **opened,
                        lx_error *error)
{
    pthread_t threads[THREADS];
    size_t started = 0;
    opening self = {.paths = paths, .count = count, .opened = opened, .error = LX_ERROR_INIT};
    for (size_t i = 0; i < count; i++)
        opened[i] = NULL;
    while (started < THREADS && started + 1 < count &&
           pthread_create(&threads[started], NULL, open_some, &self) == 0)
        started++;
    open_some(&self); /* which is enough if no thread could be started */
    for (size_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    if (self.error.status != LX_OK && error != NULL)
        *error = self.error;
    return self.error.status;
}

void datasets_close(lx_dataset **opened, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        lx_dataset_close(opened[i]);
        opened[i] = NULL;
    }
}

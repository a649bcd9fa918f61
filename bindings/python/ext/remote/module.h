/* SPDX-License-Identifier: MIT */
/* What the sources of the module loaderx._remote have in common. */
#ifndef LXPY_REMOTE_MODULE_H
#define LXPY_REMOTE_MODULE_H

#include "../capsule.h"

/** The push of lxpy_opener. */
lx_status lxpy_remote_push(const lxpy_opener *self, lx_dataset *dataset, const char *url,
                           bool replace, lx_progress_function progress, void *user, uint64_t *sent,
                           lx_error *error);

/** prune(url, opener, older, dry_run): a function of the module. */
PyObject *lxpy_remote_prune(PyObject *module, PyObject *args);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef LXPY_TICKET_H
#define LXPY_TICKET_H

#include "lxpy.h"

/** Creates a Ticket and takes ownership of @p handle, even on failure; returns NULL with an
 * exception set on failure. */
PyObject *lxpy_ticket_new(lxpy_state *state, lx_ticket *handle);

#endif

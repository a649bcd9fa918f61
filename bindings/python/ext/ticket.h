/* SPDX-License-Identifier: MIT */
#ifndef LXPY_TICKET_H
#define LXPY_TICKET_H

#include "lxpy.h"

/** Creates a Ticket that owns @p handle, even on failure; NULL with an exception. */
PyObject *lxpy_ticket_new(lxpy_state *state, lx_ticket *handle);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef LXPY_TICKET_H
#define LXPY_TICKET_H

#include "lxpy.h"

/** A Ticket that owns @p handle, on failure too; NULL with an exception. */
PyObject *lxpy_ticket_new(lxpy_state *state, lx_ticket *handle);

#endif

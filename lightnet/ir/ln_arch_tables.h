// SPDX-License-Identifier: Apache-2.0
// Changes of the architecture tables after main has begun: either contexts use them, or they
// change, never both; changes can be undone.

#pragma once

#include "lightnet/ln_arch.h"

/** A context begins to use the tables. -1 with the thread's last error: they are changing. */
int ln_arch_begin_use(void);
void ln_arch_end_use(void);

/** The tables begin to change. -1 with the thread's last error: contexts use them, or they are
 *  changing already. */
int ln_arch_begin_change(void);
void ln_arch_end_change(void);

/** The number of changes of the tables, for ln_arch_undo. */
int ln_arch_changes(void);

/** Undoes all changes but the first `n`, the newest first. */
void ln_arch_undo(int n);

/** 0 when the architecture has a name, and each of its operators a type and that name as its
 *  `arch`; else -1 with the thread's last error. */
int ln_arch_check_ops(const ln_arch *arch);

/** Calls `add` with the name of each target that could be loaded, until that fails (not 0). */
typedef void (*ln_targets_func)(int (*add)(void *arg, const char *name), void *arg);

/** Whether a target has that name that could be loaded, but is not. */
int ln_arch_is_loadable(const char *target);

/** Sets the function that finds loadable targets; before main. */
void ln_arch_set_loadable(ln_targets_func func);

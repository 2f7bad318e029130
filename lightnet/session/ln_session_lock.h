// SPDX-License-Identifier: Apache-2.0
// The lock over what threads share: the programs of models, pools, the program that a session runs.
//
// There is one for the process, held for some assignments at a time, so that fork() finds it free:
// a child begins with everything whole.

#ifndef LN_SESSION_LOCK_H
#define LN_SESSION_LOCK_H

void ln_session_lock(void);
void ln_session_unlock(void);

#endif

// SPDX-License-Identifier: Apache-2.0
// Whether a file can be given to the dynamic loader, which trusts it.

#ifndef LN_ELF_H
#define LN_ELF_H

#include "lightnet/ln_msg.h"

/** 0 when `file` is a shared object of this kind of machine and all of its segments are there: one
 *  that is cut off ends the process where it is mapped. Else -1 with a reason that names it.
 *  Source: System V Application Binary Interface, "Object Files" and "Program Loading". */
int ln_elf_check(const char *file, ln_error *err);

#endif

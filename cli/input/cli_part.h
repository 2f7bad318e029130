// SPDX-License-Identifier: Apache-2.0
// The part of a list that a process runs, where several share it: given by --part, or by the
// launcher that started them (mpirun, srun).

#pragma once

/** Part `index`, from 0, of `n`; n 0: not given, which is all of it. */
typedef struct cli_part {
    int index;
    int n;
    const struct cli_launcher *launcher; // that gave the part; NULL: none
} cli_part;

enum { CLI_PART_MAX_ID = 200 }; // with its end

/** Reads "I/N", I from 1 to N. Returns 0; -1: the text is another one. */
int cli_part_read(cli_part *part, const char *text);

/** A part that is not given becomes that of the launcher's variables; without them it is 1 of 1.
 * Returns 0, or CLI_WRONG_USAGE after a message: a variable has another value than launchers set.
 */
int cli_part_find(cli_part *part);

/** Whether other processes have other parts. */
int cli_part_is_shared(const cli_part *part);

/** The id that the launcher gave to this start of all processes, as a part of a file name. Returns
 * whether there is one. */
int cli_part_id(const cli_part *part, char id[CLI_PART_MAX_ID]);

/** The items of the part are begin .. end - 1, of `n` items. Parts are consecutive, and differ by
 * at most one item in length. */
void cli_part_range(const cli_part *part, int n, int *begin, int *end);

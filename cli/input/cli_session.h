// SPDX-License-Identifier: Apache-2.0
// Opens models and creates sessions with the options of the command line.

#pragma once

#include "cli_options.h"
#include "lightnet/ln_msg.h"
#include "lightnet/ln_session.h"
#include "lightnet/ln_util.h"

/** Opens the model opt->args[0], without a message or a warning if that fails. Returns new
 * (ln_model_free); NULL also if --shape has sums of sizes, which only contexts read. `opt` must
 * outlive it. */
ln_model *cli_session_try(const cli_options *opt);

/** The same, if sizes of its inputs are open, and ignoring sums, which sessions find by themselves.
 */
ln_model *cli_session_try_open(const cli_options *opt);

/** Checks that the sizes in the sums of --shape are sizes of inputs. Returns 0, or CLI_FAILED after
 * a message. */
int cli_session_check_sums(const ln_model *model, const cli_options *opt);

/** Checks that each file of -i belongs to an input of the model. Returns 0, or CLI_FAILED after a
 * message. */
int cli_session_check_given(const ln_model *model, const cli_options *opt);

/** Opens the model opt->args[0]. Returns new (ln_model_free), or NULL after a message. `opt` must
 * outlive it. */
ln_model *cli_session_open(const cli_options *opt);

/** A session of the model, whose runs end with --max-seconds. Returns new (ln_session_free), or
 * NULL after a message. */
ln_session *cli_session_create(ln_model *model, const cli_options *opt);

/** Where the values of inputs come from. */
typedef struct cli_session_inputs {
    const cli_options *opt;
    const ln_model *model;
    ln_session *session;
    /** Reads a file for input `i`. Returns new (tl_tensor_free_data_too); NULL after a message. */
    tl_tensor *(*read)(void *data, int i, const char *file);
    void *data; // of `read`
    int each;   // the input for the files of --each, which is not set; -1: none
} cli_session_inputs;

/** Sets all inputs: those that -i names, then the others in the model's order. Warns of NaN
 * elements. Returns 0, or CLI_FAILED after a message. */
int cli_session_set_inputs(const cli_session_inputs *inputs);

/** As ln_session_run, within the remaining --max-seconds. */
ln_status cli_session_run(ln_session *session, const cli_options *opt);

/** Whether LightNet supports the types of all inputs. */
int cli_session_has_types(const ln_model *model);

/** Whether a size of an input or an output is open, or the number of its dimensions unknown. */
int cli_session_is_open(const tl_tensor *info);

/** The shape of input, or output, `i` as text, such as "[batch, 3]", into `text`, LN_MAXLINE bytes.
 * Returns it. */
const char *cli_session_input_shape(const ln_model *model, int i, char *text);
const char *cli_session_output_shape(const ln_model *model, int i, char *text);

/** A --shape option that sets the open sizes of input `i`, such as "--shape 'x=1x3'", in `text`,
 * LN_MAXLINE bytes. Returns it. */
const char *cli_session_shape_option(const ln_model *model, int i, char *text);

/** As cli_given_read_open, for input `i` of type and shape `info`; if the shape of the file is
 * unknown, the reason ends with a --shape option. */
tl_tensor *cli_session_read_open(const ln_model *model, const cli_options *opt, int i,
                                 const tl_tensor *info, const char *file, ln_error *err);

/** Open sizes that have to be sums of others. */
enum { CLI_MAX_SUMS = 8 };
typedef struct cli_sums {
    int n;
    struct {
        char name[LN_MAX_NAME_LEN], sum[LN_MAXLINE];
    } items[CLI_MAX_SUMS];
} cli_sums;

/** Adds the size, from ln_model_check_sizes, if it is a sum. */
void cli_session_add_sum(cli_sums *sums, const ln_open_size *size);

/** The --shape options that set all open sizes, such as "--shape 'x=1x3' --shape 'past=1'", in the
 * same way. */
const char *cli_session_shape_options(const ln_model *model, const cli_sums *sums, char *text);

/** For a model that cannot be read without its sizes: prints the options that set them all, and
 * returns CLI_FAILED. 0: options set shapes or inputs, or no size is open. */
int cli_session_fail_open(const cli_options *opt);

/** The names of the model's inputs, as many as fit into `text`, LN_MAXLINE bytes. Returns it. */
const char *cli_session_list_inputs(const ln_model *model, char *text);

/** Prints why the session's last call failed, after the model's name. Returns CLI_FAILED. */
int cli_session_fail(const ln_session *session, const cli_options *opt);

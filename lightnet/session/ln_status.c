// SPDX-License-Identifier: Apache-2.0
// Names of statuses and versions.

#include <stdio.h>
#include <string.h>

#include "lightnet/ln_arch.h"
#include "lightnet/ln_context.h"
#include "lightnet/ln_image.h"
#include "lightnet/ln_session.h"
#include "lightnet/ln_version.h"
#include "session/ln_pool.h"

#define ROW(status, text) [status] = {#status, text}

static const struct {
    const char *name, *text;
} statuses[LN_STATUS_SIZE] = {
    ROW(LN_OK, "success"),
    ROW(LN_BAD_ARGUMENT, "bad argument"),
    ROW(LN_NOT_FOUND, "not found"),
    ROW(LN_BAD_MODEL, "bad model"),
    ROW(LN_UNSUPPORTED, "unsupported"),
    ROW(LN_OUT_OF_MEMORY, "out of memory"),
    ROW(LN_LIMIT_REACHED, "limit reached"),
    ROW(LN_CANCELLED, "cancelled"),
    ROW(LN_IO_ERROR, "input or output error"),
    ROW(LN_INTERNAL_ERROR, "internal error"),
};

static int is_status(ln_status status)
{
    return (unsigned)status < LN_STATUS_SIZE;
}

const char *ln_status_name(ln_status status)
{
    return is_status(status) ? statuses[status].name : NULL;
}

const char *ln_status_text(ln_status status)
{
    return is_status(status) ? statuses[status].text : "unknown status";
}

const char *ln_version(void)
{
    return LN_VERSION;
}

static char build_info[4 * LN_MAXLINE];

const char *ln_build_info(void)
{
    char formats[LN_MAXLINE], targets[LN_MAXLINE], images[LN_MAXLINE];
    ln_session_lock();
    if (!*build_info)
        snprintf(build_info, sizeof(build_info), "formats: %s\ntargets: %s\nimages: %s\nisa: %s",
                 ln_sprint_formats(formats, sizeof(formats)),
                 ln_sprint_targets(targets, sizeof(targets)),
                 ln_sprint_image_formats(images, sizeof(images)), tl_isa_name(tl_isa_best()));
    ln_session_unlock();
    return build_info;
}

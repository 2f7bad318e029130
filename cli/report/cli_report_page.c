// SPDX-License-Identifier: Apache-2.0
// Writes the page of `lightnet report`.

#include "report/cli_report_page.h"

#include <stdio.h>
#include <string.h>

#include "lightnet/ln_outfile.h"
#include "ln_report_page.h"
#include "output/cli_msg.h"

typedef struct content {
    const char *json;
    size_t len;
} content;

// Within <script>, "</script>" and "<!--" would end the data. In JSON, '<' occurs in strings only.
static void put_json(FILE *fp, const content *c)
{
    const char *at = c->json, *const end = at + c->len;
    while (at < end) {
        const char *const mark = memchr(at, '<', (size_t)(end - at));
        fwrite(at, 1, (size_t)((mark ? mark : end) - at), fp);
        if (!mark)
            break;
        fputs("\\u003c", fp);
        at = mark + 1;
    }
}

static int put_page(FILE *fp, const void *arg, ln_error *err)
{
    (void)err;
    fwrite(ln_report_before, 1, sizeof(ln_report_before) - 1, fp);
    put_json(fp, arg);
    fwrite(ln_report_after, 1, sizeof(ln_report_after) - 1, fp);
    return 0;
}

int cli_report_write(const char *file, const char *json, size_t len)
{
    const content c = {json, len};
    ln_error err = {0};
    const int failed = strcmp(file, "-")
                           ? ln_outfile_write(file, put_page, &c, &err)
                           : ln_outfile_print(stdout, "standard output", put_page, &c, &err);
    return failed ? cli_fail("%s", ln_error_text(&err)) : 0;
}

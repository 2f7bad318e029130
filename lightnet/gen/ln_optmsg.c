// SPDX-License-Identifier: Apache-2.0
// Messages about rules, which name the rule.

#include <stdarg.h>
#include <stdio.h>

#include "gen/ln_optdesc.h"

int ln_optrule_fail(const ln_optrule *rule, const ln_rjson *node, ln_error *err, const char *fmt,
                    ...)
{
    char reason[LN_MAXLINE];
    va_list args;
    va_start(args, fmt);
    vsnprintf(reason, sizeof(reason), fmt, args);
    va_end(args);
    if (rule && rule->name)
        return ln_rjson_fail(node, err, "rule '%s': %s", rule->name, reason);
    return ln_rjson_fail(node, err, "%s", reason);
}

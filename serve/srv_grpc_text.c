// SPDX-License-Identifier: Apache-2.0
// Timeouts, content types, and texts of errors.

#include "srv_grpc_text.h"

#include <string.h>
#include <strings.h>

int srv_grpc_read_timeout(const char *text, uint64_t *ns)
{
    static const char units[] = "HMSmun";
    static const uint64_t sizes[] = {3600000000000, 60000000000, 1000000000, 1000000, 1000, 1};
    static const uint64_t max = (uint64_t)100 * 365 * 24 * 3600 * 1000000000;
    enum { MAX_DIGITS = 8 };
    uint64_t number = 0;
    const size_t n = strspn(text, "0123456789");
    const char *const unit = text[n] ? strchr(units, text[n]) : NULL;
    if (!n || n > MAX_DIGITS || !unit || text[n + 1])
        return -1;
    for (size_t i = 0; i < n; i++)
        number = number * 10 + (uint64_t)(text[i] - '0');
    const uint64_t size = sizes[unit - units];
    *ns = number > max / size ? max : number * size;
    return 0;
}

int srv_grpc_is_content_type(const char *text)
{
    static const char type[] = "application/grpc", form[] = "+proto";
    if (strncasecmp(text, type, strlen(type)) != 0)
        return 0;
    text += strlen(type);
    if (!strncasecmp(text, form, strlen(form)))
        text += strlen(form);
    text += strspn(text, " ");
    return !*text || *text == ';';
}

void srv_grpc_write_message(srv_buffer *b, const char *text)
{
    for (; *text; text++)
        if (*text >= ' ' && *text <= '~' && *text != '%')
            srv_buffer_add(b, text, 1);
        else
            srv_buffer_printf(b, "%%%02X", (unsigned char)*text);
    srv_buffer_add(b, "", 1);
}

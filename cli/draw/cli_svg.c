// SPDX-License-Identifier: Apache-2.0
// Functions shared by SVG diagrams: the document, and text escaped as XML.

#include "draw/cli_svg.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "lightnet/ln_msg.h"
#include "output/cli_print.h"
#include "output/cli_utf8.h"

void cli_svg_begin(double width, double height, const char *style)
{
    cli_print("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
              "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
              "viewBox=\"0 0 %.0f %.0f\" font-family=\"sans-serif\" font-size=\"11\">\n"
              "<style>%s</style>\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
              width, height, width, height, style);
}

void cli_svg_end(void)
{
    cli_print("</svg>\n");
}

// Source: XML 1.0, production 2.
static int is_char(uint32_t c)
{
    return c == '\t' || c == '\n' || (c >= 0x20 && c < 0x7f) || (c >= 0xa0 && c < 0xd800) ||
           (c >= 0xe000 && c < 0xfffe) || c >= 0x10000;
}

static const char *entity_of(uint32_t c)
{
    static const char chars[] = "<>&\"";
    static const char *const entities[] = {"&lt;", "&gt;", "&amp;", "&quot;"};
    const char *at = c && c < 0x80 ? strchr(chars, (int)c) : NULL;
    return at ? entities[at - chars] : NULL;
}

void cli_svg_text(const char *text, int max)
{
    size_t used, left = strlen(text);
    for (int i = 0; left > 0 && i < max; text += used, left -= used, i++) {
        char shown[8];
        uint32_t c;
        const size_t n = ln_escape_char(shown, text, left, &used);
        cli_utf8_decode(text, &c);
        if (!is_char(c))
            putchar('?');
        else if (entity_of(c))
            fputs(entity_of(c), stdout);
        else
            fwrite(shown, 1, n, stdout);
    }
    if (left > 0)
        fputs("...", stdout);
}

void cli_svg_tensor(const ln_tensor_entry *te)
{
    char shape[LN_MAX_SHAPE];
    cli_svg_text(te->name, LN_MAX_NAME_LEN);
    cli_print(": %s %s%s, %zu bytes", tl_dtype_name(te->tensor->dtype),
              ln_sprint_shape(shape, sizeof(shape), te->tensor->ndim, te->tensor->dims),
              te->isdynamic ? " at most" : "", ln_tensor_entry_capacity(te));
}

// SPDX-License-Identifier: Apache-2.0
// Functions shared by SVG diagrams: the document, and text escaped as XML.

#include "draw/cli_svg.h"

#include <stdio.h>
#include <string.h>

#include "lightnet/ln_msg.h"
#include "output/cli_print.h"

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

// Whether the character of `used` bytes is one of XML; `is_shown`: unescaped.
// Source: XML 1.0, production 2.
static int is_char(const char *text, size_t used, int is_shown)
{
    if (is_shown)
        return used != 3 || memcmp(text, "\xef\xbf", 2) != 0 || (unsigned char)text[2] < 0xbe;
    return used == 1 ? *text == '\t' || *text == '\n' : *text != '\xc2'; // below U+00A0
}

static const char *entity_of(char c)
{
    static const char chars[] = "<>&\"";
    static const char *const entities[] = {"&lt;", "&gt;", "&amp;", "&quot;"};
    const char *at = strchr(chars, c);
    return at ? entities[at - chars] : NULL;
}

void cli_svg_text(const char *text, int max)
{
    size_t used, left = strlen(text);
    for (int i = 0; left > 0 && i < max; text += used, left -= used, i++) {
        char shown[8];
        const size_t n = ln_escape_char(shown, text, left, &used);
        if (!is_char(text, used, n == used))
            putchar('?');
        else if (entity_of(*text))
            fputs(entity_of(*text), stdout);
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

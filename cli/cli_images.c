// SPDX-License-Identifier: Apache-2.0
// Options for images as inputs.

#include "cli_images.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cli_given.h"
#include "lightnet/lightnet.h"

/* More than what images begin with. */
enum { LOOK_SIZE = 64 };

static int begins_like_image(const char *file)
{
    char begin[LOOK_SIZE];
    FILE *stream = fopen(file, "rbe");
    if (!stream)
        return 1; // an error later
    const size_t size = fread(begin, 1, sizeof(begin), stream);
    fclose(stream);
    return ln_image_is_image(begin, size);
}

static int may_be_image(const char *file)
{
    struct stat st;
    return !strcmp(file, "-") || stat(file, &st) || !S_ISREG(st.st_mode) || begins_like_image(file);
}

void cli_images_warn(const cli_options *opt)
{
    for (int i = 0; i < opt->inputs.n; i++) {
        if (may_be_image(cli_given_file(opt->inputs.items[i])))
            return;
    }
    if (opt->for_images && !opt->data && !opt->quiet)
        fprintf(stderr, "warning: --%s does nothing: no input is an image\n", opt->for_images);
}

// SPDX-License-Identifier: Apache-2.0
// usage: faces MODEL IMAGE OUTPUT. Finds faces, and writes the image with their boxes as PPM.

#include "imaging.h"

static const char *write_file(const image *p, const char *file)
{
    FILE *stream = fopen(file, "wb");
    if (!stream)
        return "cannot create OUTPUT";
    const char *reason = image_write(p, stream);
    return fclose(stream) || reason ? "cannot write OUTPUT" : NULL;
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return fprintf(stderr, "usage: faces MODEL IMAGE OUTPUT\n"), 2;
    detector d;
    image p = {0};
    const char *reason = detector_open(&d, argv[1]);
    if (!reason)
        reason = image_read(&p, argv[2]);
    if (!reason)
        reason = detector_find(&d, &p);
    for (int i = 0; !reason && i < d.n_faces; i++) {
        const face *f = &d.faces[i];
        printf("%.2f at %d,%d to %d,%d\n", f->score, f->left, f->top, f->right, f->bottom);
        image_draw_box(&p, f);
    }
    if (!reason)
        reason = write_file(&p, argv[3]);
    if (reason)
        fprintf(stderr, "faces: %s\n", reason);
    detector_close(&d);
    free(p.rgb);
    return reason != NULL;
}

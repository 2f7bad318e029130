// SPDX-License-Identifier: Apache-2.0
// usage: video MODEL [OUTPUT] <FRAMES. Finds the faces of each frame of a stream of PPM images.
// Writes the frames with boxes to OUTPUT, such as a pipe to a player.

#define _POSIX_C_SOURCE 199309L
#include <time.h>
#include "imaging.h"

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void show(int frame, detector *d, image *p)
{
    printf("frame %d: %d faces", frame, d->n_faces);
    for (int i = 0; i < d->n_faces; i++) {
        const face *f = &d->faces[i];
        printf(", %.2f at %d,%d to %d,%d", f->score, f->left, f->top, f->right, f->bottom);
        image_draw_box(p, f);
    }
    printf("\n");
}

// All frames; each run reuses the memory of the session.
static const char *loop(detector *d, image *p, FILE *output)
{
    double spent = 0;
    for (int frame = 0, end;; frame++) {
        const char *reason = image_read_next(p, stdin, &end);
        if (!reason && end) {
            if (frame)
                printf("%d frames, %.2f ms per frame\n", frame, spent / frame * 1e3);
            return NULL;
        }
        const double begin = now();
        if (!reason)
            reason = detector_find(d, p);
        spent += now() - begin;
        if (!reason)
            show(frame, d, p);
        if (!reason && output)
            reason = image_write(p, output);
        if (reason)
            return reason;
    }
}

int main(int argc, char **argv)
{
    if (argc != 2 && argc != 3)
        return fprintf(stderr, "usage: video MODEL [OUTPUT] <FRAMES\n"), 2;
    detector d;
    image p = {0};
    FILE *output = NULL;
    const char *reason = detector_open(&d, argv[1]);
    if (!reason && argc == 3 && !(output = fopen(argv[2], "wb")))
        reason = "cannot create OUTPUT";
    if (!reason)
        reason = loop(&d, &p, output);
    if (output && fclose(output) && !reason)
        reason = "cannot write OUTPUT";
    if (reason)
        fprintf(stderr, "video: %s\n", reason);
    detector_close(&d);
    free(p.rgb);
    return reason != NULL;
}

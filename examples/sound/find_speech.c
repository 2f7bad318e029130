// SPDX-License-Identifier: Apache-2.0
// usage: find_speech MODEL FILE.wav. Prints segments of speech, as lines of START END in seconds.
// FILE is 16-bit mono of 16 kHz, which is read and analysed piece by piece, as from a microphone.

#include "open_model.h"

enum {
    RATE = 16000,
    HOP = 256,   // samples of a frame: the model returns a probability for each
    CHUNK = 5,   // frames of a run, 80 ms
    HOLD = 20,   // frames of silence that end a segment, 0.32 s
    SHORT = 6,   // frames of the shortest segment, 0.1 s
    HIDDEN = 32, // elements of the state
};

// The current segment; first is -1 outside of one.
typedef struct segment {
    int first, last; // frames
} segment;

static void end_segment(segment *s)
{
    if (s->first >= 0 && s->last - s->first + 1 >= SHORT) {
        printf("%6.2f %6.2f\n", s->first * (double)HOP / RATE, (s->last + 1) * (double)HOP / RATE);
        fflush(stdout);
    }
    s->first = -1;
}

static void add_frame(segment *s, int frame, float probability)
{
    if (probability > 0.5f) {
        s->first = s->first < 0 ? frame : s->first;
        s->last = frame;
    } else if (s->first >= 0 && frame - s->last >= HOLD) {
        end_segment(s);
    }
}

// A little-endian number of n bytes.
static unsigned number(const unsigned char *bytes, int n)
{
    return n == 0 ? 0 : bytes[0] | number(bytes + 1, n - 1) << 8;
}

// Reads the headers of a WAV file, up to its samples; returns their number.
static unsigned begin_wav(const char *name, FILE *file)
{
    unsigned char head[16];
    int is_supported = 0;
    if (fread(head, 1, 12, file) != 12 || memcmp(head, "RIFF", 4) || memcmp(head + 8, "WAVE", 4))
        fail("%s: not a WAV file", name);
    while (fread(head, 1, 8, file) == 8) {
        unsigned size = number(head + 4, 4);
        if (!memcmp(head, "data", 4) && is_supported)
            return size / 2;
        if (!memcmp(head, "fmt ", 4) && size >= 16 && fread(head, 1, 16, file) == 16) {
            is_supported = number(head, 2) == 1 && number(head + 2, 2) == 1 &&
                           number(head + 4, 4) == RATE && number(head + 14, 2) == 16;
            size -= 16;
        }
        for (size += size % 2; size > 0 && getc(file) != EOF; size--)
            ;
    }
    fail("%s: expected samples of 16 bits, mono, 16 kHz", name);
    return 0;
}

// Reads up to n samples, and sets the rest to 0; returns their number.
static unsigned read_samples(FILE *file, float *samples, unsigned n)
{
    unsigned i = 0;
    unsigned char bytes[2];
    for (; i < n && fread(bytes, 1, 2, file) == 2; i++)
        samples[i] = (float)(int16_t)number(bytes, 2) / 32768;
    memset(samples + i, 0, (CHUNK * HOP - i) * sizeof(float));
    return i;
}

// The states of the model are its memory of the sound so far: what one run writes, the next reads.
static void bind_state(ln_session *session, const char *input, const char *output, int ndim,
                       const int *dims, float *state, size_t size)
{
    check(ln_session_bind_input(session, input, TL_FLOAT, ndim, dims, state, size), session);
    check(ln_session_bind_output(session, output, state, size), session);
}

static void find_speech(ln_session *session, const char *name)
{
    float samples[CHUNK * HOP] = {0}, speech[CHUNK], tail[HOP] = {0}, state[HIDDEN] = {0};
    segment current = {-1, -1};
    int frame = 0;
    FILE *file = fopen(name, "rb");
    if (!file)
        fail("%s: cannot be read", name);
    check(ln_session_bind_input(session, "samples", TL_FLOAT, 2, (const int[]){1, CHUNK * HOP},
                                samples, sizeof(samples)),
          session);
    check(ln_session_bind_output(session, "speech", speech, sizeof(speech)), session);
    bind_state(session, "tail", "next_tail", 2, (const int[]){1, HOP}, tail, sizeof(tail));
    bind_state(session, "state", "next_state", 3, (const int[]){1, 1, HIDDEN}, state,
               sizeof(state));
    for (unsigned left = begin_wav(name, file), n = 1; left > 0 && n > 0; left -= n) {
        n = read_samples(file, samples, left < CHUNK * HOP ? left : CHUNK * HOP);
        check(ln_session_run(session), session);
        for (int i = 0; i < CHUNK; i++)
            add_frame(&current, frame++, speech[i]);
    }
    end_segment(&current);
    fclose(file);
}

int main(int argc, char **argv)
{
    if (argc != 3)
        fail("usage: find_speech MODEL FILE.wav");
    ln_session *session = open_model(argv[1]);
    find_speech(session, argv[2]);
    ln_session_free(session);
    return 0;
}

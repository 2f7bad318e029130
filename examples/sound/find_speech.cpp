// SPDX-License-Identifier: Apache-2.0
// usage: find_speech MODEL FILE.wav. Prints segments of speech, as lines of START END in seconds.
// FILE is 16-bit mono of 16 kHz, which is read and analysed piece by piece, as from a microphone.

#include "open_model.hpp"
#include <algorithm>
#include <cstdint>
#include <cstring>

static constexpr int RATE = 16000;
static constexpr int HOP = 256;   // samples of a frame: the model returns a probability for each
static constexpr int CHUNK = 5;   // frames of a run, 80 ms
static constexpr int HOLD = 20;   // frames of silence that end a segment, 0.32 s
static constexpr int SHORT = 6;   // frames of the shortest segment, 0.1 s
static constexpr int HIDDEN = 32; // elements of the state

/* Frames in, segments out. */
class segments
{
  public:
    void add(float probability)
    {
        if (probability > 0.5f) {
            first = first < 0 ? frame : first;
            last = frame;
        } else if (first >= 0 && frame - last >= HOLD) {
            end();
        }
        frame++;
    }
    void end()
    {
        if (first >= 0 && last - first + 1 >= SHORT) {
            std::printf("%6.2f %6.2f\n", first * double(HOP) / RATE,
                        (last + 1) * double(HOP) / RATE);
            std::fflush(stdout);
        }
        first = -1;
    }

  private:
    int frame = 0, first = -1, last = -1; // first is -1 outside of a segment
};

/* The samples of a WAV file, one after the other. */
class wav
{
  public:
    explicit wav(const std::string &name) : file(name, std::ios::binary)
    {
        if (!file)
            throw std::runtime_error(name + ": cannot be read");
        if (bytes(4) != "RIFF" || bytes(8).substr(4) != "WAVE")
            throw std::runtime_error(name + ": not a WAV file");
        bool is_supported = false;
        for (std::string kind = bytes(4); file; kind = bytes(4)) {
            uint32_t size = number(4);
            if (kind == "data" && is_supported) {
                left = size / 2;
                return;
            }
            if (kind == "fmt " && size >= 16) {
                is_supported = number(2) == 1 && number(2) == 1 && number(4) == RATE;
                number(4), number(2); // bytes per second and per sample
                is_supported = number(2) == 16 && is_supported;
                size -= 16;
            }
            file.ignore(size + size % 2);
        }
        throw std::runtime_error(name + ": expected samples of 16 bits, mono, 16 kHz");
    }
    /* Fills the array, with zeros after the end; false: there was nothing left. */
    template <size_t N> bool read(float (&samples)[N])
    {
        size_t n = 0;
        for (; n < N && left > 0 && file.peek() != EOF; n++, left--)
            samples[n] = float(int16_t(number(2))) / 32768;
        std::fill(samples + n, samples + N, 0.0f);
        return n > 0;
    }

  private:
    std::string bytes(size_t n)
    {
        std::string text(n, 0);
        file.read(text.data(), std::streamsize(n));
        return text;
    }
    /* A little-endian number of n bytes. */
    uint32_t number(size_t n)
    {
        uint32_t value = 0;
        const std::string text = bytes(n);
        for (size_t i = 0; i < n; i++)
            value |= uint32_t(uint8_t(text[i])) << 8 * i;
        return value;
    }

    std::ifstream file;
    uint32_t left = 0;
};

static void find_speech(const char *model, const char *file)
{
    float samples[CHUNK * HOP], speech[CHUNK], tail[HOP] = {}, state[HIDDEN] = {};
    lightnet::session session = open_model(model);
    session.bind_input<float>("samples", {1, CHUNK * HOP}, samples);
    session.bind_output<float>("speech", speech);
    // The states are the model's memory of the sound so far: what one run writes, the next reads.
    session.bind_input<float>("tail", {1, HOP}, tail);
    session.bind_output<float>("next_tail", tail);
    session.bind_input<float>("state", {1, 1, HIDDEN}, state);
    session.bind_output<float>("next_state", state);

    wav sound(file);
    segments found;
    while (sound.read(samples)) {
        session.run();
        for (float probability : speech)
            found.add(probability);
    }
    found.end();
}

int main(int argc, char **argv)
{
    return run_program([&] {
        if (argc != 3)
            throw std::runtime_error("usage: find_speech MODEL FILE.wav");
        find_speech(argv[1], argv[2]);
    });
}

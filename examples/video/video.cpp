// SPDX-License-Identifier: Apache-2.0
// usage: video MODEL [OUTPUT] <FRAMES. Finds the faces of each frame of a stream of PPM images.
// Writes the frames with boxes to OUTPUT, such as a pipe to a player.
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include "imaging.hpp"

static void show(int frame, const std::vector<imaging::face> &faces)
{
    std::printf("frame %d: %zu faces", frame, faces.size());
    for (const auto &f : faces)
        std::printf(", %.2f at %d,%d to %d,%d", double(f.score), f.left, f.top, f.right, f.bottom);
    std::printf("\n");
}

// All frames; each run reuses the memory of the session.
static void run(const char *model, const char *output)
{
    imaging::detector detector(model);
    imaging::image image;
    std::ofstream stream;
    if (output)
        stream.open(output, std::ios::binary);
    std::chrono::duration<double, std::milli> spent{};
    int n = 0;
    for (; image.read_next(std::cin); n++) {
        const auto begin = std::chrono::steady_clock::now();
        const auto faces = detector.find(image);
        spent += std::chrono::steady_clock::now() - begin;
        show(n, faces);
        for (const auto &f : faces)
            image.draw_box(f);
        if (output)
            image.write(stream);
    }
    if (n)
        std::printf("%d frames, %.2f ms per frame\n", n, spent.count() / n);
}

int main(int argc, char **argv)
{
    if (argc != 2 && argc != 3)
        return std::fprintf(stderr, "usage: video MODEL [OUTPUT] <FRAMES\n"), 2;
    try {
        std::ios::sync_with_stdio(false);
        run(argv[1], argv[2]);
        return 0;
    } catch (const std::exception &e) {
        return std::fprintf(stderr, "video: %s\n", e.what()), 1;
    }
}

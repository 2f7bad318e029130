// SPDX-License-Identifier: Apache-2.0
// usage: faces MODEL IMAGE OUTPUT. Finds faces, and writes the image with their boxes as PPM.
#include <cstdio>
#include <fstream>
#include "imaging.hpp"

static void run(const char *model, const char *file, const char *output)
{
    imaging::detector detector(model);
    auto image = imaging::image::read(file);
    for (const auto &f : detector.find(image)) {
        std::printf("%.2f at %d,%d to %d,%d\n", double(f.score), f.left, f.top, f.right, f.bottom);
        image.draw_box(f);
    }
    std::ofstream stream(output, std::ios::binary);
    image.write(stream);
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return std::fprintf(stderr, "usage: faces MODEL IMAGE OUTPUT\n"), 2;
    try {
        run(argv[1], argv[2], argv[3]);
        return 0;
    } catch (const std::exception &e) {
        return std::fprintf(stderr, "faces: %s\n", e.what()), 1;
    }
}

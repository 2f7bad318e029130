// SPDX-License-Identifier: Apache-2.0
// usage: classifier MODEL LABELS IMAGE... Prints the three most probable labels of each image.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>
#include <numeric>
#include <string>
#include <vector>
#include <lightnet/lightnet.hpp>
#include <lightnet/ln_image.h>

static std::vector<std::string> read_lines(const std::string &file)
{
    std::ifstream stream(file);
    if (!stream)
        throw std::runtime_error(file + ": cannot open the file");
    std::vector<std::string> lines;
    for (std::string line; std::getline(stream, line);)
        lines.push_back(line);
    return lines;
}

// Reads the image in the type and shape of the model's input, and runs.
static std::vector<float> classify(const lightnet::model &model, lightnet::session &session,
                                   const char *file)
{
    ln_image_format format = {};
    format.scale[0] = format.scale[1] = format.scale[2] = 1; // samples as they are, 0 to 255
    const std::unique_ptr<tl_tensor, void (*)(tl_tensor *)> image(
        ln_image_read(file, model.input_info(0).t, &format, nullptr), tl_tensor_free_data_too);
    if (!image)
        throw std::runtime_error(ln_last_error());
    const lightnet::tensor input(image.get());
    session.set_input<float>(model.input_name(0), input.dims(), input.values<float>());
    session.run();
    const auto probs = session.output(model.output_name(0)).values<float>();
    return {probs.begin(), probs.end()};
}

static void print_best(const char *file, const std::vector<std::string> &labels,
                       const std::vector<float> &probs)
{
    if (probs.size() != labels.size())
        throw std::runtime_error(
            "the first output of the model has not as many elements as there are labels");
    std::vector<size_t> order(probs.size());
    std::iota(order.begin(), order.end(), size_t(0));
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return probs[a] > probs[b]; });
    std::printf("%s:", file);
    for (size_t i = 0; i < std::min<size_t>(3, order.size()); i++)
        std::printf("%s %s %.3f", i ? "," : "", labels[order[i]].c_str(), double(probs[order[i]]));
    std::printf("\n");
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return std::fprintf(stderr, "usage: classifier MODEL LABELS IMAGE...\n"), 2;
    try {
        const lightnet::model model(argv[1]);
        lightnet::session session(model);
        const auto labels = read_lines(argv[2]);
        for (int i = 3; i < argc; i++)
            print_best(argv[i], labels, classify(model, session, argv[i]));
        return 0;
    } catch (const std::exception &e) {
        return std::fprintf(stderr, "classifier: %s\n", e.what()), 1;
    }
}

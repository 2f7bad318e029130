// SPDX-License-Identifier: Apache-2.0
// What the C++ programs of the examples share: models, text files, errors.
#ifndef OPEN_MODEL_HPP
#define OPEN_MODEL_HPP

#include <lightnet/lightnet.hpp>
#include <cstdio>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

/** A session of the model in `file`. Small models are fastest in one thread. */
inline lightnet::session open_model(const char *file)
{
    lightnet::options options;
    options.set("threads", "1");
    return lightnet::session(lightnet::model(file, options)); // the session keeps the model
}

inline std::vector<std::string> read_lines(const std::string &file)
{
    std::ifstream stream(file);
    std::vector<std::string> lines;
    for (std::string line; std::getline(stream, line);)
        lines.push_back(line);
    if (!stream.eof() || stream.bad())
        throw std::runtime_error(file + ": cannot be read");
    return lines;
}

/** Runs the program; an exception ends it with a message and 1. */
template <class F> int run_program(F program)
{
    try {
        program();
        return 0;
    } catch (const std::exception &e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
}

#endif

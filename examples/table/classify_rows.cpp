// SPDX-License-Identifier: Apache-2.0
// usage: classify_rows MODEL TABLE. Predicts which failure the machine of each row will have.

#include "open_model.hpp"
#include <algorithm>
#include <cstdint>
#include <sstream>

using row = std::vector<std::string>;

static const row TYPES = {"A", "B", "C"}, FAILURES = {"none", "heat", "overload", "wear"};

/* The cells of a line of CSV without quotes. */
static row cells_of(const std::string &line)
{
    std::istringstream stream(line);
    row cells;
    for (std::string cell; std::getline(stream, cell, ',');)
        cells.push_back(cell);
    return cells;
}

static size_t index_in(const row &words, const std::string &word)
{
    const auto found = std::find(words.begin(), words.end(), word);
    if (found == words.end())
        throw std::runtime_error("unknown column or value '" + word + "'");
    return size_t(found - words.begin());
}

struct table {
    row names;
    std::vector<row> rows;

    explicit table(const std::string &file)
    {
        for (const std::string &line : read_lines(file))
            rows.push_back(cells_of(line));
        if (rows.empty())
            throw std::runtime_error(file + ": is empty");
        names = rows[0];
        rows.erase(rows.begin());
        for (const row &cells : rows)
            if (cells.size() != names.size())
                throw std::runtime_error(file +
                                         ": a row has another number of cells than the first");
    }
    const std::string &cell(size_t i, const char *column) const
    {
        return rows[i][index_in(names, column)];
    }
    /* The columns side by side: [rows, columns]. */
    std::vector<float> numbers(std::initializer_list<const char *> columns) const
    {
        std::vector<float> values;
        for (size_t i = 0; i < rows.size(); i++)
            for (const char *column : columns)
                values.push_back(std::stof(cell(i, column)));
        return values;
    }
};

static void classify(const char *model, const char *file)
{
    const table machines(file);
    const int n = int(machines.rows.size());
    std::vector<int64_t> types;
    for (size_t i = 0; i < machines.rows.size(); i++)
        types.push_back(int64_t(index_in(TYPES, machines.cell(i, "type"))));

    lightnet::session session = open_model(model);
    session.set_input<float>("operating", {n, 3},
                             machines.numbers({"speed", "torque", "temperature"}));
    session.set_input<float>("age", {n, 2}, machines.numbers({"hours", "service"}));
    session.set_input<int64_t>("type", {n}, types);
    session.run();

    const auto probs = session.output("probabilities").values<float>();
    int right = 0;
    for (size_t i = 0; i < machines.rows.size(); i++) {
        const float *const first = probs.data() + i * FAILURES.size();
        const float *const best = std::max_element(first, first + FAILURES.size());
        const std::string &failure = FAILURES[size_t(best - first)];
        std::printf("%-8s %-8s %.2f\n", machines.cell(i, "machine").c_str(), failure.c_str(),
                    *best);
        right += failure == machines.cell(i, "failure");
    }
    std::printf("%d of %d rows as in column 'failure'\n", right, n);
}

int main(int argc, char **argv)
{
    return run_program([&] {
        if (argc != 3)
            throw std::runtime_error("usage: classify_rows MODEL TABLE");
        classify(argv[1], argv[2]);
    });
}

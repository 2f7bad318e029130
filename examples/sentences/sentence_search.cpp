// SPDX-License-Identifier: Apache-2.0
// usage: sentence_search MODEL FILE [QUERY]. Prints the three lines of FILE that are closest in
// meaning to the query. Lines that begin with # are titles of sections. Without a query: how many
// lines have their closest line in their section.

#include "open_model.hpp"
#include <algorithm>
#include <cstdint>
#include <numeric>

static constexpr size_t BUCKETS = 8192, PREFIX = 5, BATCH = 16, DIMS = 32;

struct sentence {
    std::string text;
    int section;
    std::vector<float> vector; // of length 1
};

/* Two buckets of the table, by FNV-1a with 32 bits. Words that share one rarely share the other. */
static void add_buckets(const std::string &piece, std::vector<int64_t> &ids)
{
    uint32_t hash = 2166136261;
    for (unsigned char c : piece)
        hash = (hash ^ c) * 16777619;
    ids.push_back(hash % BUCKETS);
    ids.push_back(hash / BUCKETS % BUCKETS);
}

/* The buckets of each word, and of the first letters of longer words: "sailor" and "sailo-". */
static std::vector<int64_t> token_ids(const std::string &text)
{
    std::vector<int64_t> ids;
    std::string word;
    for (unsigned char c : text + " ") {
        if (c >= 'A' && c <= 'Z')
            c += 'a' - 'A';
        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c >= 0x80) {
            word += char(c);
        } else if (!word.empty()) {
            add_buckets(word, ids);
            if (word.size() > PREFIX)
                add_buckets(word.substr(0, PREFIX) + "-", ids);
            word.clear();
        }
    }
    return ids;
}

/* Sets the vectors of n sentences, in one run. */
static void embed(lightnet::session &session, sentence *sentences, size_t n)
{
    std::vector<std::vector<int64_t>> tokens(n);
    size_t longest = 1;
    for (size_t i = 0; i < n; i++) {
        tokens[i] = token_ids(sentences[i].text);
        longest = std::max(longest, tokens[i].size());
    }
    std::vector<int64_t> ids(n * longest);
    std::vector<float> mask(n * longest);
    for (size_t i = 0; i < n; i++) {
        std::copy(tokens[i].begin(), tokens[i].end(), ids.begin() + long(i * longest));
        std::fill_n(mask.begin() + long(i * longest), tokens[i].size(), 1.0f);
    }
    session.set_input<int64_t>("ids", {int(n), int(longest)}, ids);
    session.set_input<float>("mask", {int(n), int(longest)}, mask);
    session.run();
    const auto units = session.output("unit").values<float>();
    for (size_t i = 0; i < n; i++)
        sentences[i].vector.assign(units.data() + i * DIMS, units.data() + (i + 1) * DIMS);
}

static std::vector<sentence> read_sections(const std::string &file)
{
    std::vector<sentence> sentences;
    int section = 0;
    for (const std::string &line : read_lines(file)) {
        if (line[0] == '#')
            section++;
        else if (!line.empty())
            sentences.push_back({line, section, {}});
    }
    return sentences;
}

/* The cosine of the angle. */
static float score(const sentence &a, const sentence &b)
{
    return std::inner_product(a.vector.begin(), a.vector.end(), b.vector.begin(), 0.0f);
}

static void print_closest(std::vector<sentence> &sentences, const sentence &query)
{
    std::stable_sort(sentences.begin(), sentences.end(), [&](const sentence &a, const sentence &b) {
        return score(a, query) > score(b, query);
    });
    for (size_t i = 0; i < std::min<size_t>(3, sentences.size()); i++)
        std::printf("%.2f  %s\n", score(sentences[i], query), sentences[i].text.c_str());
}

static void print_share(const std::vector<sentence> &sentences)
{
    size_t same = 0;
    for (const sentence &s : sentences) {
        const sentence *closest = nullptr;
        for (const sentence &other : sentences)
            if (&other != &s && (!closest || score(s, other) > score(s, *closest)))
                closest = &other;
        same += closest && closest->section == s.section;
    }
    std::printf("%zu of %zu sentences have their closest one in their section\n", same,
                sentences.size());
}

static void search(const char *model, const char *file, const char *text)
{
    lightnet::session session = open_model(model);
    std::vector<sentence> sentences = read_sections(file);
    for (size_t i = 0; i < sentences.size(); i += BATCH)
        embed(session, &sentences[i], std::min(BATCH, sentences.size() - i));
    if (!text)
        return print_share(sentences);
    sentence query = {text, 0, {}};
    embed(session, &query, 1);
    print_closest(sentences, query);
}

int main(int argc, char **argv)
{
    return run_program([&] {
        if (argc != 3 && argc != 4)
            throw std::runtime_error("usage: sentence_search MODEL FILE [QUERY]");
        search(argv[1], argv[2], argv[3]); // NULL without a query
    });
}

// SPDX-License-Identifier: Apache-2.0
// usage: generate [OPTION...] MODEL-DIR PROMPT. Continues a text with a language model. MODEL-DIR
// has the files of Hugging Face's exporters: model.onnx (or onnx/model.onnx), tokenizer.json,
// generation_config.json. Speed goes to standard error. generate.c describes the options.

#include "json_reader.h"
#include "open_model.hpp"
#include "tokenizer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <set>

using clock_type = std::chrono::steady_clock;

// Arguments

struct settings {
    std::string folder, prompt;
    std::map<std::string, double> numbers = {
        {"--max-tokens", 200}, {"--temperature", 0}, {"--top-k", 0}, {"--top-p", 1},
        {"--seed", 0},         {"--threads", 1},     {"--ids", 0},   {"--ignore-end", 0}};
    double operator[](const char *name) const
    {
        return numbers.at(name);
    }
};

static double number_of(const std::string &name, const char *text)
{
    char *end = nullptr;
    const double number = text ? std::strtod(text, &end) : -1;
    if (!text || end == text || *end || !(number >= 0 && number < 1e9))
        throw std::runtime_error("option '" + name + "' expects a number from 0 on");
    return number;
}

static settings read_arguments(char **argv)
{
    settings s;
    std::vector<std::string> rest;
    for (argv++; *argv; argv++) {
        const std::string name = *argv;
        if (name.compare(0, 2, "--")) {
            rest.push_back(name);
        } else if (!s.numbers.count(name)) {
            throw std::runtime_error("unknown option '" + name + "'");
        } else if (name == "--ids" || name == "--ignore-end") {
            s.numbers[name] = 1;
        } else {
            s.numbers[name] = number_of(name, argv[1]);
            argv++;
        }
    }
    if (rest.size() != 2)
        throw std::runtime_error("usage: generate [OPTION...] MODEL-DIR PROMPT");
    s.folder = rest[0];
    s.prompt = rest[1];
    return s;
}

// Decoder: a model and its cache

class decoder
{
  public:
    /* For texts of up to `room` tokens. */
    decoder(const std::string &file, const lightnet::options &options, size_t room)
        : model(file, options), session(model), positions(room), ones(room, 1)
    {
        for (size_t i = 0; i < room; i++)
            positions[i] = int64_t(i);
        for (int i = 0; i < model.num_inputs(); i++)
            inputs.emplace(model.input_name(i), i);
        link_cache();
    }

    /* Runs the model on more tokens. Returns the logits of the token behind them, until the next
     * run. */
    lightnet::view<const float> run(const std::vector<int64_t> &ids)
    {
        const size_t n = ids.size();
        bind_tokens("input_ids", ids.data(), n);
        bind_tokens("position_ids", positions.data() + n_past, n);
        bind_tokens("attention_mask", ones.data(), n_past + n);
        session.run();
        n_past += n;
        const lightnet::tensor output = session.output("logits");
        const auto logits = output.values<float>();
        const auto dims = output.dims();
        const size_t vocabulary = dims.size() ? size_t(dims[dims.size() - 1]) : 0;
        if (vocabulary < 1 || logits.size() < vocabulary)
            throw std::runtime_error("output 'logits' is empty");
        return {logits.end() - vocabulary, vocabulary};
    }

    size_t n_past = 0; // tokens in the cache

  private:
    /* Links "present.0.key", an output, to "past_key_values.0.key" or "past.0.key", and so on. */
    void link_cache()
    {
        if (session.link_states() < 1)
            throw std::runtime_error(
                "the model has no inputs 'past_key_values' with outputs 'present'");
        for (int i = 0; i < model.num_outputs(); i++)
            if (const char *past = session.linked_input(model.output_name(i)))
                empty_cache(past, model.input_info(inputs.at(past)));
    }

    /* The cache is empty at first: its batch is 1, and another open size the number of tokens. */
    void empty_cache(const char *name, const lightnet::tensor &info)
    {
        std::vector<int> dims;
        for (int dim : info.dims())
            dims.push_back(dim >= 0 ? dim : dims.empty() ? 1 : 0);
        lightnet::check(ln_session_set_input(session.get(), name, info.dtype(), int(dims.size()),
                                             dims.data(), nullptr),
                        ln_session_error(session.get()));
    }

    void bind_tokens(const char *name, const int64_t *data, size_t n)
    {
        if (inputs.count(name))
            session.bind_input<int64_t>(name, {1, int(n)}, {data, n});
    }

    lightnet::model model;
    lightnet::session session; // keeps the cache
    std::vector<int64_t> positions, ones; // 0, 1, 2 .. and 1, 1, 1 ..
    std::map<std::string, int> inputs; // their numbers
};

static decoder open_decoder(const settings &s, size_t room)
{
    lightnet::options options;
    options.set("threads", std::to_string(int(s["--threads"])).c_str());
    const std::string file = s.folder + "/model.onnx";
    return decoder(std::ifstream(file) ? file : s.folder + "/onnx/model.onnx", options, room);
}

// Sampler

/* A number from 0 up to 1, by splitmix64 (Steele et al. 2014). */
static double draw(uint64_t &state)
{
    uint64_t z = state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return double((z ^ z >> 31) >> 11) * 0x1p-53;
}

/* The weights of the tokens that take part, by logit, the highest first, then by id. */
static std::vector<std::pair<double, int64_t>> candidates(lightnet::view<const float> logits,
                                                          const settings &s)
{
    std::vector<std::pair<double, int64_t>> all;
    for (size_t i = 0; i < logits.size(); i++)
        all.emplace_back(-double(logits[i]), int64_t(i));
    std::sort(all.begin(), all.end());
    if (s["--top-k"] > 0 && s["--top-k"] < double(all.size()))
        all.resize(size_t(s["--top-k"]));
    const double first = all[0].first;
    double sum = 0, so_far = 0;
    for (auto &choice : all)
        sum += choice.first = std::exp((first - choice.first) / s["--temperature"]);
    size_t taken = 0;
    while (taken < all.size() && (taken == 0 || so_far < s["--top-p"] * sum))
        so_far += all[taken++].first;
    all.resize(taken);
    return all;
}

static int64_t sample(lightnet::view<const float> logits, const settings &s, uint64_t &state)
{
    if (s["--temperature"] <= 0)
        return std::max_element(logits.begin(), logits.end()) - logits.begin();
    const auto choices = candidates(logits, s);
    double sum = 0;
    for (const auto &choice : choices)
        sum += choice.first;
    double left = draw(state) * sum;
    size_t i = 0;
    while (i < choices.size() - 1 && (left -= choices[i].first) >= 0)
        i++;
    return choices[i].second;
}

// Text

struct tokens : std::unique_ptr<tokenizer, void (*)(tokenizer *)> {
    explicit tokens(const std::string &file) : unique_ptr(nullptr, tokenizer_free)
    {
        char why[4200];
        reset(tokenizer_read(file.c_str(), why, sizeof(why)));
        if (!*this)
            throw std::runtime_error(why);
    }
    std::vector<int64_t> encode(const std::string &text) const
    {
        int64_t *ids;
        const long n = tokenizer_encode(get(), text.data(), text.size(), &ids);
        const std::unique_ptr<int64_t, void (*)(void *)> owner(ids, std::free);
        if (n < 0 || n > 1000000)
            throw std::runtime_error("the prompt is too long");
        return {ids, ids + n};
    }
};

/* "eos_token_id" of generation_config.json: a number, or an array of them; else a usual token. */
static std::set<int64_t> read_ends(const std::string &folder, const tokens &t)
{
    char why[200];
    std::set<int64_t> ends;
    const std::unique_ptr<json_document, void (*)(json_document *)> document(
        json_read((folder + "/generation_config.json").c_str(), why, sizeof(why)), json_free);
    const json *given = document ? json_get(json_root(document.get()), "eos_token_id") : nullptr;
    const json *id = json_first(given) ? json_first(given) : given;
    for (; id && id->type == JSON_NUMBER; id = id == given ? nullptr : id->next)
        if (id->number >= 0 && id->number < 1e9)
            ends.insert(int64_t(id->number));
    for (const char *usual : {"<|endoftext|>", "<|im_end|>", "</s>"})
        if (ends.empty() && tokenizer_id(t.get(), usual) >= 0)
            ends.insert(tokenizer_id(t.get(), usual));
    return ends;
}

static void print_token(const tokens &t, int64_t id, const settings &s)
{
    size_t len;
    const char *const bytes = tokenizer_bytes(t.get(), id, &len);
    if (s["--ids"] > 0)
        std::printf("%lld\n", static_cast<long long>(id));
    else if (bytes)
        std::fwrite(bytes, 1, len, stdout);
    std::fflush(stdout);
}

static double seconds_since(clock_type::time_point begin)
{
    return std::chrono::duration<double>(clock_type::now() - begin).count();
}

/* The prompt in one run, then one run for each token. */
static void generate(const settings &s)
{
    const tokens t(s.folder + "/tokenizer.json");
    const std::set<int64_t> ends = read_ends(s.folder, t);
    std::vector<int64_t> prompt = t.encode(s.prompt);
    if (prompt.empty() && ends.empty())
        throw std::runtime_error("the prompt is empty");
    if (prompt.empty())
        prompt.push_back(*ends.begin());
    const size_t most = size_t(s["--max-tokens"]);
    decoder d = open_decoder(s, prompt.size() + most);
    if (!(s["--ids"] > 0))
        std::printf("%s", s.prompt.c_str());

    uint64_t state = uint64_t(s["--seed"]);
    const auto begin = clock_type::now();
    auto logits = d.run(prompt);
    const double first = seconds_since(begin);
    for (size_t n = 0; n < most; n++) {
        const int64_t id = sample(logits, s, state);
        if (ends.count(id) && !(s["--ignore-end"] > 0))
            break;
        print_token(t, id, s);
        if (n + 1 < most)
            logits = d.run({id});
    }
    const double rest = seconds_since(begin) - first, n_more = double(d.n_past - prompt.size());
    if (!(s["--ids"] > 0))
        std::printf("\n");
    std::fflush(stdout);
    std::fprintf(stderr, "prompt: %zu tokens, %.0f tokens/s", prompt.size(),
                 double(prompt.size()) / first);
    if (n_more > 0)
        std::fprintf(stderr, "; then %.0f tokens, %.0f tokens/s", n_more, n_more / rest);
    std::fprintf(stderr, "\n");
}

int main(int, char **argv)
{
    return run_program([&] { generate(read_arguments(argv)); });
}

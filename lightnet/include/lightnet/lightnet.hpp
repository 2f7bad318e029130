// SPDX-License-Identifier: Apache-2.0
// The C++17 API for applications: owning handles, data with its length, exceptions. See ln_session.h.
//     lightnet::model model("resnet50.onnx");
//     lightnet::session session(model);
//     session.set_input<float>("image", {1, 3, 224, 224}, pixels); // a vector, an array ..
//     session.run();
//     for (float p : session.output("probabilities").values<float>())
//         std::printf("%g\n", p);
#ifndef LIGHTNET_HPP
#define LIGHTNET_HPP
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>
#include "lightnet/ln_session.h"
namespace lightnet {
/** The exception of all calls. */
struct error : std::runtime_error {
    error(ln_status s, const std::string &text) : std::runtime_error(text), status(s) {}
    ln_status status;
};
inline void check(ln_status s, const char *text = ln_session_error(nullptr)) { if (s) throw error(s, text); }

/** A view of elements that outlive it: of a vector, an array, or a pointer and a length. */
template <class T> struct view {
    view(T *data, size_t size) : data_(data), size_(size) {}
    template <size_t N> view(T (&array)[N]) : data_(array), size_(N) {}
    template <class C, class = decltype(std::declval<C &>().data())>
    view(C &&c) : data_(c.data()), size_(c.size()) {}
    T *data() const { return data_; }
    size_t size() const { return size_; }
    T *begin() const { return data_; }
    T *end() const { return data_ + size_; }
    T &operator[](size_t i) const { return data_[i]; }
    T &at(size_t i) const { return i < size_ ? data_[i] : throw std::out_of_range("view::at"); }
    T *data_;
    size_t size_;
};

/** An argument {1, 3, 224, 224}, or a vector or an array of int. */
struct shape : view<const int> {
    using view<const int>::view;
    shape(std::initializer_list<int> dims) : view(dims.begin(), dims.size()) {}
    int ndim() const { return static_cast<int>(size()); }
};

/** The type of an element. Floats of 16 bits are uint16_t with a dtype. */
template <class T> constexpr tl_dtype dtype_of()
{
    constexpr size_t n = sizeof(T);
    static_assert(std::is_arithmetic_v<T> && n <= 8, "no type of elements");
    if constexpr (std::is_floating_point_v<T>)
        return n == 4 ? TL_FLOAT : TL_DOUBLE;
    if constexpr (std::is_signed_v<T>)
        return n == 1 ? TL_INT8 : n == 2 ? TL_INT16 : n == 4 ? TL_INT32 : TL_INT64;
    constexpr tl_dtype byte = std::is_same_v<T, bool> ? TL_BOOL : TL_UINT8;
    return n == 1 ? byte : n == 2 ? TL_UINT16 : n == 4 ? TL_UINT32 : TL_UINT64;
}

/** A tensor of a model or a session, which it must not outlive. */
struct tensor {
    explicit tensor(const tl_tensor *p) : t(p) {}
    tl_dtype dtype() const { return t->dtype; }
    shape dims() const { return shape(t->dims, t->ndim > 0 ? static_cast<size_t>(t->ndim) : 0); }
    template <class T> view<const T> values(tl_dtype dtype = dtype_of<T>()) const
    {
        if (dtype != t->dtype || tl_size_of(dtype) != sizeof(T))
            throw error(LN_BAD_ARGUMENT, std::string("elements are ") + tl_dtype_name(t->dtype));
        return {static_cast<const T *>(t->data), t->data ? static_cast<size_t>(t->len) : 0};
    }
    std::vector<std::string> strings() const
    {
        std::vector<std::string> all;
        if (t->dtype != TL_STRING)
            throw error(LN_BAD_ARGUMENT, std::string("elements are ") + tl_dtype_name(t->dtype));
        for (int i = 0; t->data && i < t->len; i++)
            all.emplace_back(tl_string_bytes(tl_tensor_string(t, i)), tl_string_size(tl_tensor_string(t, i)));
        return all;
    }
    const tl_tensor *t;
};

/** Moves, and does not copy. get() is for the functions of ln_session.h. */
template <class T, void (*Free)(T *)> struct owner : std::unique_ptr<T, void (*)(T *)> {
    explicit owner(T *p, ln_status why = LN_OUT_OF_MEMORY) : std::unique_ptr<T, void (*)(T *)>(p, Free)
    { check(p ? LN_OK : why); }
};

template <class T, class F, class... A> T *made(F create, A... args)
{ T *p = nullptr; return check(create(args..., &p)), p; }

struct pool : owner<ln_pool, ln_pool_free> {
    explicit pool(int n = 0)
        : owner(ln_pool_create(n), n < 0 || n > 1024 ? LN_BAD_ARGUMENT : LN_OUT_OF_MEMORY) {}
};

struct options : owner<ln_options, ln_options_free> {
    options() : owner(ln_options_create()) {}
    options &set(const char *key, const char *value) { return done(ln_options_set(get(), key, value)); }
    options &set_pool(const pool &p) { return done(ln_options_set_pool(get(), p.get())); }
    options &set_messages(ln_message_func f, void *p) { return done(ln_options_set_messages(get(), f, p)); }
private:
    options &done(ln_status s) { return check(s), *this; }
};

struct model : owner<ln_model, ln_model_free> {
    explicit model(const char *file, const options &o = {})
        : owner(made<ln_model>(ln_model_open, file, o.get())) {}
    explicit model(const std::string &file, const options &o = {}) : model(file.c_str(), o) {}
    model(const char *name, const void *bytes, size_t size, const options &o = {})
        : owner(made<ln_model>(ln_model_open_memory, name, bytes, size, o.get())) {}
    int num_inputs() const { return ln_model_num_inputs(get()); }
    int num_outputs() const { return ln_model_num_outputs(get()); }
    int num_programs() const { return ln_model_num_programs(get()); }
    const char *input_name(int i) const { return there(ln_model_input_name(get(), i)); }
    const char *output_name(int i) const { return there(ln_model_output_name(get(), i)); }
    tensor input_info(int i) const { return tensor(there(ln_model_input_info(get(), i))); }
    tensor output_info(int i) const { return tensor(there(ln_model_output_info(get(), i))); }
    std::pair<int, int> input_bounds(int i, int axis) const
    { std::pair<int, int> b; return check(ln_model_input_bounds(get(), i, axis, &b.first, &b.second)), b; }
private:
    template <class P> static P *there(P *p) { return check(p ? LN_OK : LN_BAD_ARGUMENT), p; }
};

struct session : owner<ln_session, ln_session_free> {
    explicit session(const model &m) : owner(made<ln_session>(ln_session_create, m.get())) {}
    template <class T> void set_input(const char *name, shape dims, view<const T> data,
                                      tl_dtype dtype = dtype_of<T>())
    {
        size_t n = 1; // no tensor has a length that overflows
        for (int dim : dims)
            n *= static_cast<size_t>(dim);
        if (sizeof(T) != tl_size_of(dtype) || n > data.size())
            throw error(LN_BAD_ARGUMENT, std::string("too little data for input '") + name + "'");
        done(ln_session_set_input(get(), name, dtype, dims.ndim(), dims.data(), data.data()));
    }
    /** Strings are UTF-8; they are copied. */
    void set_strings(const char *name, shape dims, view<const std::string> strings)
    {
        std::vector<const char *> texts;
        std::vector<size_t> sizes;
        for (const std::string &s : strings)
            texts.push_back(s.data()), sizes.push_back(s.size());
        size_t n = 1;
        for (int dim : dims)
            n *= static_cast<size_t>(dim);
        if (n > sizes.size())
            throw error(LN_BAD_ARGUMENT, std::string("too little data for input '") + name + "'");
        done(ln_session_set_strings(get(), name, dims.ndim(), dims.data(), texts.data(), sizes.data()));
    }
    template <class T> void bind_input(const char *name, shape dims, view<const T> data,
                                       tl_dtype dtype = dtype_of<T>())
    { done(ln_session_bind_input(get(), name, dtype, dims.ndim(), dims.data(), data.data(),
                                 data.size() * sizeof(T))); }
    template <class T> void bind_output(const char *name, view<T> to)
    { done(ln_session_bind_output(get(), name, to.data(), to.size() * sizeof(T))); }
    /** States: each run reads an output of the run before as an input. See ln_session_link. */
    void link(const char *output, const char *input) { done(ln_session_link(get(), output, input)); }
    int link_states()
    { const int n = ln_session_link_states(get()); return done(n < 0 ? LN_OUT_OF_MEMORY : LN_OK), n; }
    const char *linked_input(const char *output) const { return ln_session_linked_input(get(), output); }
    void reset_states() { ln_session_reset_states(get()); }
    void copy_states(const session &from) { done(ln_session_copy_states(get(), from.get())); }
    void run() { done(ln_session_run(get())); }
    void set_timeout(uint64_t ms) { done(ln_session_set_timeout(get(), ms)); }
    void cancel() { ln_session_cancel(get()); }
    void resume() { ln_session_resume(get()); }
    tensor output(const char *name)
    {
        const tl_tensor *t = ln_session_output(get(), name);
        if (!t) // this fails for the same reason
            done(ln_session_copy_output(get(), name, nullptr, 0));
        return tensor(t);
    }
private:
    void done(ln_status s) { check(s, ln_session_error(get())); }
};
} // namespace lightnet
#endif

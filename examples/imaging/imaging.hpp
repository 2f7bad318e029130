// SPDX-License-Identifier: Apache-2.0
// Images and a face detector, for the C++ programs of these examples. Failures throw.
#ifndef IMAGING_HPP
#define IMAGING_HPP

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <istream>
#include <memory>
#include <ostream>
#include <stdexcept>
#include <string>
#include <vector>
#include <lightnet/lightnet.hpp>
#include <lightnet/ln_image.h>

namespace imaging
{

// A box in pixels, its right and bottom inside, and a score of 0 to 1.
struct face {
    int left, top, right, bottom;
    float score;
};

// Rows from the top, red, green and blue side by side.
struct image {
    int height = 0, width = 0;
    std::vector<uint8_t> rgb;

    void resize(int new_height, int new_width)
    {
        height = new_height;
        width = new_width;
        rgb.resize(size_t(height) * size_t(width) * 3);
    }
    // Reads a file: PNG, JPEG, PGM or PPM.
    static image read(const std::string &file)
    {
        ln_image decoded;
        if (ln_image_decode(file.c_str(), &decoded, nullptr))
            throw std::runtime_error(ln_last_error());
        const std::unique_ptr<ln_image, void (*)(ln_image *)> owner(&decoded, ln_image_free);
        image p;
        p.resize(decoded.height, decoded.width);
        for (size_t i = 0; i < p.rgb.size(); i++)
            p.rgb[i] = decoded.pixels[decoded.channels == 3 ? i : i / 3];
        return p;
    }
    // Reads the next image of a stream of PPM images; false: there is none.
    bool read_next(std::istream &stream)
    {
        std::string magic;
        int new_height = 0, new_width = 0, maximum = 0;
        if (stream.peek() == std::istream::traits_type::eof())
            return false;
        stream >> magic >> new_width >> new_height >> maximum;
        if (!stream || magic != "P6" || maximum != 255 || new_width < 1 || new_width > 9999 ||
            new_height < 1 || new_height > 9999 || stream.get() != '\n')
            throw std::runtime_error("expected a PPM image (P6, at most 9999 x 9999, 255)");
        resize(new_height, new_width);
        if (!stream.read(reinterpret_cast<char *>(rgb.data()), std::streamsize(rgb.size())))
            throw std::runtime_error("the last image is incomplete");
        return true;
    }
    // Writes the image as PPM.
    void write(std::ostream &stream) const
    {
        stream << "P6\n" << width << ' ' << height << "\n255\n";
        stream.write(reinterpret_cast<const char *>(rgb.data()), std::streamsize(rgb.size()));
        if (!stream.flush())
            throw std::runtime_error("cannot write the image");
    }
    void draw_box(const face &f)
    {
        for (int y = f.top; y <= f.bottom; y++)
            for (int x = f.left; x <= f.right; x++)
                if (x < f.left + 2 || x > f.right - 2 || y < f.top + 2 || y > f.bottom - 2) {
                    uint8_t *pixel = &rgb[(size_t(y) * size_t(width) + size_t(x)) * 3];
                    pixel[0] = pixel[2] = 0;
                    pixel[1] = 255;
                }
    }
    // As [3, height, width] of (sample - 127) / 128, resized linearly.
    void to_tensor(float *data, int new_height, int new_width) const
    {
        for (int y = 0; y < new_height; y++) {
            const float v = source_of(y, new_height, height);
            const int top = int(v), bottom = std::min(top + 1, height - 1);
            for (int x = 0; x < new_width; x++) {
                const float u = source_of(x, new_width, width);
                const int left = int(u), right = std::min(left + 1, width - 1);
                for (int c = 0; c < 3; c++) {
                    const float a = between(at(top, left, c), at(top, right, c), u - float(left));
                    const float b =
                        between(at(bottom, left, c), at(bottom, right, c), u - float(left));
                    data[(size_t(c) * size_t(new_height) + size_t(y)) * size_t(new_width) +
                         size_t(x)] = (between(a, b, v - float(top)) - 127) / 128;
                }
            }
        }
    }

  private:
    float at(int y, int x, int c) const
    {
        return rgb[(size_t(y) * size_t(width) + size_t(x)) * 3 + size_t(c)];
    }
    static float between(float a, float b, float share)
    {
        return a + (b - a) * share;
    }
    // The place in `n` samples of sample `i` of `n_new`, by their centres.
    static float source_of(int i, int n_new, int n)
    {
        return std::clamp((float(i) + 0.5f) * float(n) / float(n_new) - 0.5f, 0.0f, float(n - 1));
    }
};

// A model with the interface of UltraFace.
class detector
{
  public:
    explicit detector(const std::string &file) : model_(file), session_(model_)
    {
        const auto in = model_.input_info(0).dims();
        if (model_.input_info(0).dtype() != TL_FLOAT || in.ndim() != 4 || in[0] != 1 ||
            in[1] != 3 || in[2] < 1 || in[3] < 1)
            throw std::runtime_error(file + ": expected a float32 input [1, 3, H, W]");
        height_ = in[2];
        width_ = in[3];
        input_.resize(size_t(height_) * size_t(width_) * 3);
        // Bound once: each run reads this buffer.
        session_.bind_input<float>(model_.input_name(0), in, input_);
    }
    // Finds faces: the best cell, then the best of those with other boxes (non-maximum
    // suppression).
    std::vector<face> find(const image &p)
    {
        p.to_tensor(input_.data(), height_, width_);
        session_.run();
        const auto pairs = session_.output("scores").values<float>(); // no face, face
        const auto boxes = session_.output("boxes").values<float>();
        if (pairs.size() * 2 != boxes.size())
            throw std::runtime_error("expected 'scores' [1, N, 2] and 'boxes' [1, N, 4]");
        scores_.clear();
        for (size_t i = 1; i < pairs.size(); i += 2)
            scores_.push_back(pairs[i]);
        std::vector<face> faces;
        while (!scores_.empty()) {
            const auto best =
                size_t(std::max_element(scores_.begin(), scores_.end()) - scores_.begin());
            if (!(scores_[best] >= 0.7f))
                break;
            const float *box = &boxes[best * 4];
            faces.push_back({pixel_at(box[0], p.width), pixel_at(box[1], p.height),
                             pixel_at(box[2], p.width), pixel_at(box[3], p.height), scores_[best]});
            for (size_t i = 0; i < scores_.size(); i++)
                if (i == best || overlap(box, &boxes[i * 4]) > 0.3f)
                    scores_[i] = 0;
        }
        return faces;
    }

  private:
    // The length that two ranges have in common.
    static float common(float begin, float end, float other_begin, float other_end)
    {
        return std::max(std::min(end, other_end) - std::max(begin, other_begin), 0.0f);
    }
    // Intersection over union.
    static float overlap(const float *a, const float *b)
    {
        const float both = common(a[0], a[2], b[0], b[2]) * common(a[1], a[3], b[1], b[3]);
        return both / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - both);
    }
    // The pixel of a place of 0 to 1; places outside are those at the border.
    static int pixel_at(float place, int n)
    {
        return std::min(place > 0 ? place < 1 ? int(place * float(n)) : n : 0, n - 1);
    }

    lightnet::model model_;
    lightnet::session session_;
    int height_ = 0, width_ = 0;
    std::vector<float> input_, scores_;
};

} // namespace imaging
#endif

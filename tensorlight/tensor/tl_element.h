// SPDX-License-Identifier: Apache-2.0
// For each element type with tag f32, u8, ..: its types tl_f32_t (storage) and tl_f32_c (compute),
// and tl_f32_load, tl_f32_store between them. Templates see them through tl_one_type.inc.h.

#ifndef TL_ELEMENT_H
#define TL_ELEMENT_H

#include <stdint.h>

#include "tensor/tl_half.h"

#define TL_AS_IS(value) (value)

static inline uint8_t tl_bool_of(uint8_t value)
{
    return value != 0;
}

#define TL_TYPE(dtype, tag, storage, compute, kind, load, store, min, max, format) \
    typedef storage tl_##tag##_t;                                                  \
    typedef compute tl_##tag##_c;                                                  \
    static inline compute tl_##tag##_load(storage value)                           \
    {                                                                              \
        return load(value);                                                        \
    }                                                                              \
    static inline storage tl_##tag##_store(compute value)                          \
    {                                                                              \
        return store(value);                                                       \
    }
#include "tensor/tl_types.def"
#undef TL_TYPE

#endif

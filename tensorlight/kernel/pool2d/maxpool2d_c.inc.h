// SPDX-License-Identifier: Apache-2.0
// Template: the maximum of each window for one type, see pool2d_c.c.

static T NAME(max_of, c)(const T *plane, int iw, range rows, range columns)
{
    C max = LOAD(plane[(size_t)rows.begin * iw + columns.begin]);
    for (int y = rows.begin; y < rows.end; y++) {
        const T *const row = plane + (size_t)y * iw;
        for (int x = columns.begin; x < columns.end; x++) {
            const C value = LOAD(row[x]);
            max = value > max ? value : max;
        }
    }
    return STORE(max);
}

POOL_PLANES(tl_maxpool2d, max_of)

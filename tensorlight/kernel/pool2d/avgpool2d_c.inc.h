// SPDX-License-Identifier: Apache-2.0
// Template: the mean of each window for one type, see pool2d_c.c.

static T NAME(mean_of, c)(const T *plane, int iw, range rows, range columns)
{
    const double count = (double)(rows.end - rows.begin) * (columns.end - columns.begin);
    double sum = 0;
    for (int y = rows.begin; y < rows.end; y++) {
        const T *const row = plane + (size_t)y * iw;
        for (int x = columns.begin; x < columns.end; x++)
            sum += (double)LOAD(row[x]);
    }
    return STORE((C)(sum / count));
}

POOL_PLANES(tl_avgpool2d, mean_of)

// SPDX-License-Identifier: Apache-2.0
// What forms read: elements of outputs, columns of rows, cells of grids.

#include <assert.h>

#include "tensorlight/tl_type.h"
#include "vision/ln_detect_form.h"

// Elements

double ln_detect_at(const ln_detect_reading *r, int role, size_t i)
{
    const tl_tensor *const t = r->of[role];
    double v;
    assert(i < (size_t)t->len);
    if (r->data[role])
        return r->data[role][i];
    tl_convert(&v, TL_DOUBLE, (const char *)t->data + i * tl_size_of(t->dtype), t->dtype);
    return v;
}

double ln_detect_column(const ln_detect_reading *r, int row, int column)
{
    return ln_detect_at(
        r, 0, (size_t)row * (size_t)r->row_step + (size_t)column * (size_t)r->column_step);
}

// Cells

int ln_detect_cells(const ln_detect_reading *r, int n_levels)
{
    int64_t n = 0;
    for (int i = 0; i < n_levels; i++)
        n += (int64_t)(r->height / (8 << i)) * (r->width / (8 << i));
    return n <= INT32_MAX ? (int)n : -1;
}

ln_detect_cell ln_detect_cell_of(const ln_detect_reading *r, int row, int n_anchors)
{
    ln_detect_cell cell = {.row = row};
    for (;; cell.level++) {
        cell.stride = r->first_stride << cell.level;
        const int width = r->width / cell.stride;
        const int64_t n = (int64_t)n_anchors * (r->height / cell.stride) * width;
        if (cell.row >= n && cell.level + 1 < r->n_levels) {
            cell.row -= (int)n;
            continue;
        }
        const int at = cell.row / n_anchors;
        cell.anchor = cell.row % n_anchors;
        cell.x = width ? at % width : 0;
        cell.y = width ? at / width : 0;
        return cell;
    }
}

// Boxes

void ln_detect_from_center(double box[4], double x, double y, double width, double height)
{
    box[0] = x - width / 2;
    box[1] = y - height / 2;
    box[2] = x + width / 2;
    box[3] = y + height / 2;
}

// SPDX-License-Identifier: Apache-2.0
// What the template of the reductions needs to know of floats.

#define TL_TEMPLATE "kernel/reduce/reduce_c.inc.h"

// A NaN stays, wherever it is.
#define MAX_OF(acc, x)   ((x) > (acc) || (x) != (x) ? (x) : (acc))
#define MIN_OF(acc, x)   ((x) < (acc) || (x) != (x) ? (x) : (acc))
#define LOWEST           ((C)-INFINITY)
#define HIGHEST          ((C)INFINITY)
#define SUM              double
#define ABS(x)           fabs((double)(x))
#define AS_IS(sum)       ((C)(sum))
#define DOUBLE_OF(sum)   (sum)
#define FROM_DOUBLE(d)   ((C)(d))
#define MEAN(sum, count) ((C)((sum) / (double)(count)))
#define IS_FINITE(c)     isfinite(c)

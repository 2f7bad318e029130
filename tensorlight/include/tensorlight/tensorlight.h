// SPDX-License-Identifier: Apache-2.0
// All of TensorLight.

#ifndef TENSORLIGHT_H
#define TENSORLIGHT_H

#include "tensorlight/tl_api.h"
#include "tensorlight/tl_attention.h"
#include "tensorlight/tl_blocked.h"
#include "tensorlight/tl_elementwise.h"
#include "tensorlight/tl_exec.h"
#include "tensorlight/tl_linalg.h"
#include "tensorlight/tl_lowbit.h"
#include "tensorlight/tl_nn.h"
#include "tensorlight/tl_peak.h"
#include "tensorlight/tl_recurrent.h"
#include "tensorlight/tl_shape.h"
#include "tensorlight/tl_signal.h"
#include "tensorlight/tl_quantize.h"
#include "tensorlight/tl_quantized.h"
#include "tensorlight/tl_tensor.h"
#include "tensorlight/tl_string.h"
#include "tensorlight/tl_text.h"
#include "tensorlight/tl_tree.h"
#include "tensorlight/tl_type.h"
#include "tensorlight/tl_util.h"
#include "tensorlight/tl_vision.h"

#endif

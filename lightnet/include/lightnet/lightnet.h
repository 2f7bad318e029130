// SPDX-License-Identifier: Apache-2.0
// All of LightNet's public interface. A first program: see ln_session.h.

#ifndef LIGHTNET_H
#define LIGHTNET_H

#include "lightnet/ln_api.h"
#include "lightnet/ln_arch.h"
#include "lightnet/ln_body.h"
#include "lightnet/ln_config.h"
#include "lightnet/ln_content.h"
#include "lightnet/ln_context.h"
#include "lightnet/ln_data.h"
#include "lightnet/ln_detect.h"
#include "lightnet/ln_dfg.h"
#include "lightnet/ln_graph.h"
#include "lightnet/ln_hash.h"
#include "lightnet/ln_image.h"
#include "lightnet/ln_input.h"
#include "lightnet/ln_list.h"
#include "lightnet/ln_mem.h"
#include "lightnet/ln_memory_plan.h"
#include "lightnet/ln_msg.h"
#include "lightnet/ln_op.h"
#include "lightnet/ln_outfile.h"
#include "lightnet/ln_param.h"
#include "lightnet/ln_pass.h"
#include "lightnet/ln_plugin.h"
#include "lightnet/ln_quantize.h"
#include "lightnet/ln_queue.h"
#include "lightnet/ln_session.h"
#include "lightnet/ln_stack.h"
#include "lightnet/ln_tensor.h"
#include "lightnet/ln_util.h"
#include "lightnet/ln_value_info.h"
#include "lightnet/ln_version.h"

#endif

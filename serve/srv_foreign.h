// SPDX-License-Identifier: Apache-2.0
// Files of other programs that lie beside models: weights, configurations, tokenizers, labels.
#pragma once

/** Whether a file with the ending ".json" or ".safetensors" is surely no model: JSON whose object
 *  lacks the keys of models in its first 64 KB, tensors that LightNet has not compiled. A file
 *  that is empty or broken may be a model, whose reader has the reason. */
int srv_foreign_is(const char *path);

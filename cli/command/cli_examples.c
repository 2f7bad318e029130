// SPDX-License-Identifier: Apache-2.0
// Examples of each command, for its help. tests/structure/manual.py compares them with the manual
// page.

#include <stdio.h>

#include "cli_options.h"
#include "lightnet/ln_util.h"
#include "output/cli_color.h"
#include "output/cli_print.h"

static const struct example {
    const char *command; // NULL: the short form
    const char *call, *purpose;
} examples[] = {
    {NULL, "lightnet model.json", "run once, with the data in the model"},
    {NULL, "lightnet run model.onnx -i photo.jpg --top 3", "the three best classes"},
    {"run", "lightnet run model.onnx -i photo.jpg --top 3 --labels labels.txt",
     "the three best classes of an image"},
    {"run", "lightnet run model.onnx -i ids=ids.npy -i mask=mask.npy -O results",
     "arrays by name; outputs as npy files"},
    {"run", "lightnet run model.onnx -i inputs.npz -O outputs.npz",
     "all inputs and outputs in npz files"},
    {"run", "lightnet run model.onnx --each photos --batch 8 --top 3 --json",
     "classify all images of a folder, 8 at a time, one JSON object for each"},
    {"run", "lightnet run model.onnx --each photos -O results --part 2/4 --resume",
     "the second quarter of the files that have no outputs yet"},
    {"run", "lightnet run yolov8n.onnx -i photo.jpg --preset yolov8 --draw boxes -o found.png",
     "draw what a detector finds"},
    {"run", "lightnet run yolov8n.onnx --each photos --preset yolov8 --json",
     "the boxes in all images of a folder, one JSON object for each"},
    {"compile", "lightnet compile model.onnx -o model.safetensors",
     "one file with the program and its weights"},
    {"compile", "lightnet compile model.onnx --shape ids=1x1..512 -o model.safetensors",
     "for sequences of 1 to 512 tokens"},
    {"convert", "lightnet convert model.onnx -o model.json", "LightNet IR"},
    {"convert", "lightnet convert model.json -f model.safetensors -o model.onnx", "ONNX"},
    {"convert", "lightnet convert model.onnx --to nnvm -o graph.json",
     "a graph of NNVM with its parameters"},
    {"quantize", "lightnet quantize model.onnx --data samples -o model.safetensors",
     "8-bit layers with at most 1 % error"},
    {"quantize", "lightnet quantize model.onnx --data samples --top1 0.99 -o model.safetensors",
     "99 % of the best classes stay"},
    {"show", "lightnet show model.onnx", "inputs, outputs and operators"},
    {"show", "lightnet show model.onnx --svg >graph.svg", "a diagram"},
    {"show", "lightnet show model.onnx --missing", "operators that LightNet lacks"},
    {"verify", "lightnet verify model.onnx test_data_set_0", "compare with stored outputs"},
    {"verify", "lightnet verify model.onnx --reference", "compare with the unoptimized program"},
    {"bench", "lightnet bench model.onnx --threads 1", "run times on one core"},
    {"bench", "lightnet bench model.onnx --per-op", "time of each operator"},
    {"bench", "lightnet bench decoder.onnx --decode 512,32",
     "tokens per second of a prompt, and of the steps after it"},
    {"report", "lightnet report model.onnx -o report.html",
     "the graph, times, roofline and memory"},
    {"report", "lightnet report model.onnx model_qdq.onnx -o report.html",
     "the times of two models side by side"},
    {"ops", "lightnet ops Conv", "the operators for an operator of ONNX"},
    {"ops", "lightnet ops --rules", "the names for --disable-rule"},
    {"env", "lightnet env", "variables with their values"},
    {"env", "lightnet env --json", "the same as JSON"},
    {"help", "lightnet help", "the commands"},
    {"help", "lightnet help run", "the options of a command"},
    {"version", "lightnet version", "version, instruction set, features, libraries"},
    {"version", "LIGHTNET_MAX_ISA=avx2 lightnet version", "as on a machine with AVX2 only"},
    {"completion", "lightnet completion bash >~/.local/share/bash-completion/completions/lightnet",
     "for one user"},
    {"completion", "lightnet completion fish >~/.config/fish/completions/lightnet.fish",
     "the same for fish"},
};

enum { N_EXAMPLES = sizeof(examples) / sizeof(examples[0]) };

void cli_examples_print(const cli_command *command)
{
    cli_print("\n%sexamples:%s\n", cli_color(stdout, CLI_BOLD), cli_color_end(stdout));
    for (int i = 0; i < N_EXAMPLES; i++)
        if (ln_streq(examples[i].command, command->usage.name))
            cli_print("  %s\n      %s\n", examples[i].call, examples[i].purpose);
}

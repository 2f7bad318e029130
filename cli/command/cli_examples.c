// SPDX-License-Identifier: Apache-2.0
// Examples of each command, for its help. tests/structure/manual.py compares them with the manual
// page.

#include <stdio.h>

#include "cli_options.h"
#include "output/cli_color.h"
#include "output/cli_print.h"

static const struct example {
    cli_command command;
    const char *call, *purpose;
} examples[] = {
    {CLI_SHORT, "lightnet model.json", "run once, with the data in the model"},
    {CLI_SHORT, "lightnet run model.onnx -i photo.jpg --top 3", "the three best classes"},
    {CLI_RUN, "lightnet run model.onnx -i photo.jpg --top 3 --labels labels.txt",
     "the three best classes of an image"},
    {CLI_RUN, "lightnet run model.onnx -i ids=ids.npy -i mask=mask.npy -O results",
     "arrays by name; outputs as npy files"},
    {CLI_RUN, "lightnet run model.onnx -i inputs.npz -O outputs.npz",
     "all inputs and outputs in npz files"},
    {CLI_RUN, "lightnet run model.onnx --each photos --batch 8 --top 3 --json",
     "classify all images of a folder, 8 at a time, one JSON object for each"},
    {CLI_RUN, "lightnet run faces.onnx -i photo.jpg --draw boxes -o found.png",
     "draw what a detector finds"},
    {CLI_RUN, "lightnet run faces.onnx --each photos --draw boxes -O drawn",
     "the same for a folder"},
    {CLI_COMPILE, "lightnet compile model.onnx -o model.safetensors",
     "one file with the program and its weights"},
    {CLI_COMPILE, "lightnet compile model.onnx --shape ids=1x1..512 -o model.safetensors",
     "for sequences of 1 to 512 tokens"},
    {CLI_CONVERT, "lightnet convert model.onnx -o model.json", "LightNet IR"},
    {CLI_CONVERT, "lightnet convert model.json -f model.safetensors -o model.onnx", "ONNX"},
    {CLI_CONVERT, "lightnet convert model.onnx --to nnvm -o graph.json",
     "a graph of NNVM with its parameters"},
    {CLI_QUANTIZE, "lightnet quantize model.onnx --data samples -o model.safetensors",
     "8-bit layers with at most 1 % error"},
    {CLI_QUANTIZE, "lightnet quantize model.onnx --data samples --top1 0.99 -o model.safetensors",
     "99 % of the best classes stay"},
    {CLI_SHOW, "lightnet show model.onnx", "inputs, outputs and operators"},
    {CLI_SHOW, "lightnet show model.onnx --svg >graph.svg", "a diagram"},
    {CLI_SHOW, "lightnet show model.onnx --missing", "operators that LightNet lacks"},
    {CLI_VERIFY, "lightnet verify model.onnx test_data_set_0", "compare with stored outputs"},
    {CLI_VERIFY, "lightnet verify model.onnx --reference", "compare with the unoptimized program"},
    {CLI_BENCH, "lightnet bench model.onnx --threads 1", "run times on one core"},
    {CLI_BENCH, "lightnet bench model.onnx --per-op", "time of each operator"},
    {CLI_OPS, "lightnet ops Conv", "the operators for an operator of ONNX"},
    {CLI_OPS, "lightnet ops --rules", "the names for --disable-rule"},
    {CLI_ENV, "lightnet env", "variables with their values"},
    {CLI_ENV, "lightnet env --json", "the same as JSON"},
    {CLI_HELP, "lightnet help", "the commands"},
    {CLI_HELP, "lightnet help run", "the options of a command"},
    {CLI_VERSION, "lightnet version", "version, instruction set, features, libraries"},
    {CLI_VERSION, "LIGHTNET_MAX_ISA=avx2 lightnet version", "as on a machine with AVX2 only"},
    {CLI_COMPLETION,
     "lightnet completion bash >~/.local/share/bash-completion/completions/lightnet",
     "for one user"},
    {CLI_COMPLETION, "lightnet completion fish >~/.config/fish/completions/lightnet.fish",
     "the same for fish"},
};

enum { N_EXAMPLES = sizeof(examples) / sizeof(examples[0]) };

void cli_examples_print(cli_command command)
{
    cli_print("\n%sexamples:%s\n", cli_color(stdout, CLI_BOLD), cli_color_end(stdout));
    for (int i = 0; i < N_EXAMPLES; i++)
        if (examples[i].command == command)
            cli_print("  %s\n      %s\n", examples[i].call, examples[i].purpose);
}

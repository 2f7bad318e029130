#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs il2json (the first argument) and lightnet (the second) with right and wrong arguments, and with the example of the
# intermediate representation, in JSON and in IL (the other two); speaks TAP.

il2json=$(realpath "$1") lightnet=$(realpath "$2") json=$(realpath "$3") il=$(realpath "$4")
. "$(dirname "$0")/tool_check.sh"

# Operators of JSON have names of their own; those of IL begin to count at 0.
sed -n 's/"name": "\(create\|slice\|print\)1"/"name": "\10"/; p' "$json" > named.json
$lightnet convert named.json -o expected.json

check il_becomes_a_file 0 '' "$il2json" --outfile out.json "$il"
check il_gives_the_bytes_of_the_json 0 '' cmp expected.json out.json
check standard_output_is_the_default 0 '{' "$il2json" "$il"
check standard_input_is_read 0 '' sh -c "$il2json - < $il | cmp - out.json"
check help_goes_to_standard_output 0 'Usage: il2json' "$il2json" --help
check short_help_is_the_same 0 'Usage: il2json' "$il2json" -h
check version_goes_to_standard_output 0 'il2json 0.' "$il2json" --version
check short_version_is_the_same 0 'il2json 0.' "$il2json" -v
check model_is_needed 2 'error: 0 models, expected one' "$il2json"
check one_model_is_enough 2 'error: 2 models' "$il2json" a b
check rejects_an_unknown_option 2 "error: unknown option '-x'; see il2json --help" "$il2json" -x
check option_needs_its_value 2 "error: option '-o' needs a value; see" "$il2json" -o
check missing_file_is_named 1 "error: none.net: cannot read: No such file" "$il2json" none.net
cp "$il" own.net
check rejects_an_output_that_is_the_input 2 "error: own.net: the output would overwrite the input 'own.net'" "$il2json" -o own.net own.net
check input_is_still_there 0 '' cmp "$il" own.net
check other_formats_are_named 1 "error: named.json: not LightNet IL; lightnet convert" \
    "$il2json" named.json

# What it writes for any target and any plug-in it need not know.
printf 'inputs = [x];\nmade_up: conv9d_fpga(src=none, | dst=x | size=[1e40, -3], why={a: [null]});\n' > other.net
check unknown_operators_are_translated 0 '' "$il2json" other.net -o other.json
check translated_operators_are_what_was_written 0 '"optype": "conv9d_fpga"' grep -F '"optype"' other.json
check lightnet_checks_them 1 "error: other.net:2: operator 'made_up': unknown optype 'conv9d_fpga'" "$lightnet" show other.net

# Errors name the line that was written.
printf '\nrelu(src=\n  x || 1);\n' > bad.net
check error_names_the_line 1 "error: bad.net:3: '1' is unexpected, expected the name of an argument" "$il2json" bad.net
printf '\357\273\277relu(src=a | dst=b);\n' > mark.net
check byte_order_mark_is_accepted 0 '{' "$il2json" mark.net

# Included files stay in the folder of the model, or in one that is named.
mkdir parts nets
printf 'relu(src=a | dst=b);\n' > parts/relu.inc
ln -s ../parts/relu.inc nets/link.inc
mkfifo nets/fifo.inc
printf '#include "relu.inc"\n' > nets/beside.net
printf '#include "../parts/relu.inc"\n' > nets/up.net
printf '#include "link.inc"\n' > nets/link.net
printf '#include "fifo.inc"\n' > nets/fifo.net
printf 'x:\n#include "/proc/self/maps"\n' > nets/maps.net
check file_elsewhere_is_not_found 1 "nets/beside.net:1: #include: relu.inc: cannot read: No such file" "$il2json" nets/beside.net
check file_in_a_named_folder_is_found 0 '{' "$il2json" --include parts nets/beside.net
check rejects_parent_folders 1 \
    "nets/up.net:1: #include: ../parts/relu.inc: expected a relative path without '..'" "$il2json" nets/up.net
check always_rejects_parent_folders 1 "expected a relative path without '..'" "$il2json" --include . nets/up.net
check rejects_links_out_of_the_folder 1 "nets/link.net:1: #include: link.inc: links lead to" "$il2json" nets/link.net
check links_into_a_named_folder_are_followed 0 '{' "$il2json" --include parts nets/link.net
check rejects_pipes 1 "nets/fifo.net:1: #include: fifo.inc: not a regular file" timeout 10 "$il2json" nets/fifo.net
check rejects_absolute_paths 1 \
    "nets/maps.net:2: #include: /proc/self/maps: expected a relative path without '..'" "$il2json" nets/maps.net
check standard_input_has_no_folder 1 \
    "standard input:1: #include: a model without a file has no folder to search; add one with --include" \
    sh -c "$il2json - < nets/beside.net"
check standard_input_may_have_a_named_folder 0 '{' sh -c "$il2json --include parts - < nets/beside.net"
check lightnet_rejects_the_same 1 "error: nets/up.net:1: #include: ../parts/relu.inc: expected a relative path" \
    "$lightnet" show nets/up.net
check lightnet_takes_the_option_too 1 "error: parts/relu.inc:1: operator 'relu0' (relu): tensors_in[0]: tensor 'a'" \
    "$lightnet" show --include parts nets/beside.net
echo "1..$n"

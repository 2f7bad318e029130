#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs a small tool with right and wrong arguments; speaks TAP. usage:
#     tools_test.sh genwts GENWTS
#     tools_test.sh il2json IL2JSON LIGHTNET JSON IL    JSON, IL: the example of the intermediate representation, in both forms

tested=$1 tool=$(realpath "$2") lightnet=${3+$(realpath "$3")} json=${4+$(realpath "$4")} il=${5+$(realpath "$5")}
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
n=0

# check NAME STATUS TEXT COMMAND...: the command ends with STATUS and prints a first line with TEXT.
check() {
    name=$1 status=$2 text=$3
    shift 3
    n=$((n + 1))
    "$@" > printed 2>&1
    got=$?
    if [ $got -eq "$status" ] && { [ -z "$text" ] || head -n 1 printed | grep -qF -- "$text"; }; then
        echo "ok $n - $name"
    else
        echo "not ok $n - $name: status $got, expected $status; printed: $(cat printed)"
    fi
}

genwts_tests() {
    echo '1, -2.5' > conv1_bias.0.txt
    echo 'one' > word.txt

    check texts_become_a_file 0 '' "$tool" -t 0 -o out.wts conv1_bias.0.txt
    check array_has_the_name_and_the_bits 0 'conv1_bias 0 2 3f800000 c0200000' tail -n 1 out.wts
    check type_may_be_a_name 0 '' "$tool" --type float16 --outfile half.wts conv1_bias.0.txt
    check half_has_four_digits 0 'conv1_bias 1 2 3c00 c100' tail -n 1 half.wts
    check help_goes_to_standard_output 0 'Usage: genwts' "$tool" --help
    check type_is_needed 2 'error: no type' "$tool" -o out.wts conv1_bias.0.txt
    check rejects_an_unknown_type 2 'error: unknown type' "$tool" -t 3 -o out.wts conv1_bias.0.txt
    check output_is_needed 2 'error: no output file' "$tool" -t 0 conv1_bias.0.txt
    check files_are_needed 2 'error: no input files' "$tool" -t 0 -o out.wts
    check rejects_an_unknown_option 2 "error: unknown option '-x'; see genwts --help" "$tool" -x
    check rejects_an_unknown_long_option 2 "error: unknown option '--size=3'; see" "$tool" --size=3
    check unknown_letter_among_others_is_named 2 "error: unknown option '-x'; see" "$tool" -xt 0
    check option_needs_its_value 2 "error: option '-o' needs a value; see" "$tool" -t 0 -o
    check missing_file_is_named 1 "error: none.txt: cannot read: No such file" "$tool" -t 0 -o out.wts none.txt
    check words_are_no_numbers 1 "error: word.txt:1: 'o' is neither" "$tool" -t 0 -o out.wts word.txt
}

il2json_tests() {
    # Operators of JSON have names of their own; those of IL begin to count at 0.
    sed -n 's/"name": "\(create\|slice\|print\)1"/"name": "\10"/; p' "$json" > named.json
    $lightnet convert named.json -o expected.json

    check il_becomes_a_file 0 '' "$tool" --outfile out.json "$il"
    check il_gives_the_bytes_of_the_json 0 '' cmp expected.json out.json
    check standard_output_is_the_default 0 '{' "$tool" "$il"
    check standard_input_is_read 0 '' sh -c "$tool - < $il | cmp - out.json"
    check help_goes_to_standard_output 0 'Usage: il2json' "$tool" --help
    check short_help_is_the_same 0 'Usage: il2json' "$tool" -h
    check version_goes_to_standard_output 0 'il2json 0.' "$tool" --version
    check short_version_is_the_same 0 'il2json 0.' "$tool" -v
    check more_than_one_model_is_rejected 2 'error: 2 models, expected at most one' "$tool" a.net b.net
    check without_a_model_standard_input_is_read 0 '' sh -c '"$0" < "$1" | cmp - out.json' "$tool" "$il"
    check rejects_an_unknown_option 2 "error: unknown option '-x'; see il2json --help" "$tool" -x
    check option_needs_its_value 2 "error: option '-o' needs a value; see" "$tool" -o
    check missing_file_is_named 1 "error: none.net: cannot read: No such file" "$tool" none.net
    cp "$il" own.net
    check rejects_an_output_that_is_the_input 2 "error: own.net: the output would overwrite the input 'own.net'" "$tool" -o own.net own.net
    check input_is_still_there 0 '' cmp "$il" own.net
    check other_formats_are_named 1 "error: named.json: not LightNet IL; lightnet convert" \
        "$tool" named.json

    # It translates models for any target and plug-in.
    printf 'inputs = [x];\nmade_up: conv9d_fpga(src=none, | dst=x | size=[1e40, -3], why={a: [null]});\n' > other.net
    check unknown_operators_are_translated 0 '' "$tool" other.net -o other.json
    check translated_operators_are_what_was_written 0 '"optype": "conv9d_fpga"' grep -F '"optype"' other.json
    check lightnet_checks_them 1 "error: other.net:2: operator 'made_up': unknown optype 'conv9d_fpga'" "$lightnet" show other.net

    # Errors name the line that was written.
    printf '\nrelu(src=\n  x || 1);\n' > bad.net
    check error_names_the_line 1 "error: bad.net:3: '1' is unexpected, expected the name of an argument" "$tool" bad.net
    printf '\357\273\277relu(src=a | dst=b);\n' > mark.net
    check byte_order_mark_is_accepted 0 '{' "$tool" mark.net

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
    check file_elsewhere_is_not_found 1 "nets/beside.net:1: #include: relu.inc: cannot read: No such file" "$tool" nets/beside.net
    check file_in_a_named_folder_is_found 0 '{' "$tool" --include parts nets/beside.net
    check rejects_parent_folders 1 \
        "nets/up.net:1: #include: ../parts/relu.inc: expected a relative path without '..'" "$tool" nets/up.net
    check always_rejects_parent_folders 1 "expected a relative path without '..'" "$tool" --include . nets/up.net
    check rejects_links_out_of_the_folder 1 "nets/link.net:1: #include: link.inc: links lead to" "$tool" nets/link.net
    check links_into_a_named_folder_are_followed 0 '{' "$tool" --include parts nets/link.net
    check rejects_pipes 1 "nets/fifo.net:1: #include: fifo.inc: not a regular file" timeout 10 "$tool" nets/fifo.net
    check rejects_absolute_paths 1 \
        "nets/maps.net:2: #include: /proc/self/maps: expected a relative path without '..'" "$tool" nets/maps.net
    check standard_input_has_no_folder 1 \
        "standard input:1: #include: a model without a file has no folder to search; add one with --include" \
        sh -c "$tool - < nets/beside.net"
    check standard_input_may_have_a_named_folder 0 '{' sh -c "$tool --include parts - < nets/beside.net"
    check lightnet_rejects_the_same 1 "error: nets/up.net:1: #include: ../parts/relu.inc: expected a relative path" \
        "$lightnet" show nets/up.net
    check lightnet_takes_the_option_too 1 "error: parts/relu.inc:1: operator 'relu0' (relu): tensors_in[0]: tensor 'a'" \
        "$lightnet" show --include parts nets/beside.net
}

"${tested}_tests"
echo "1..$n"

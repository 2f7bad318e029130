#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs il2json (the first argument) with right and wrong arguments, and with the example of the intermediate representation,
# in JSON and in IL (the other two); speaks TAP.

il2json=$(realpath "$1") json=$(realpath "$2") il=$(realpath "$3")
. "$(dirname "$0")/tool_check.sh"
printf 'relu(src=\n  none | dst=x);\n' > bad.net

# Operators of JSON have names of their own; those of IL begin to count at 0.
sed -n 's/"name": "\(create\|slice\|print\)1"/"name": "\10"/; p' "$json" > named.json

check json_becomes_a_file 0 '' "$il2json" -o expected.json named.json
check il_becomes_a_file 0 '' "$il2json" --outfile out.json "$il"
check il_gives_the_bytes_of_the_json 0 '' cmp expected.json out.json
check standard_output_is_the_default 0 '{' "$il2json" "$il"
check help_goes_to_standard_output 0 'Usage: il2json' "$il2json" --help
check model_is_needed 2 'error: 0 models given, expected one' "$il2json"
check one_model_is_enough 2 'error: 2 models given' "$il2json" a b
check unknown_option_is_refused 2 "error: unknown option '-x'; see il2json --help" "$il2json" -x
check option_needs_its_value 2 "error: option '-o' needs a value; see" "$il2json" -o
check missing_file_is_named 1 "error: none.net: cannot read: No such file" "$il2json" none.net
check error_names_the_line 1 "error: bad.net:1: operator 'relu0' (relu): tensor" "$il2json" bad.net
cp "$il" own.net
check output_that_is_the_input_is_refused 2 "error: own.net: the output would overwrite the input 'own.net'" "$il2json" -o own.net own.net
check input_is_still_there 0 '' cmp "$il" own.net
echo "1..$n"

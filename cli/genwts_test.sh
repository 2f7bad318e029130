#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs genwts (the first argument) with right and wrong arguments; speaks TAP.

genwts=$(realpath "$1")
. "$(dirname "$0")/tool_check.sh"
echo '1, -2.5' > conv1_bias.0.txt
echo 'one' > word.txt

check texts_become_a_file 0 '' "$genwts" -t 0 -o out.wts conv1_bias.0.txt
check array_has_the_name_and_the_bits 0 'conv1_bias 0 2 3f800000 c0200000' tail -n 1 out.wts
check type_may_be_a_name 0 '' "$genwts" --type float16 --outfile half.wts conv1_bias.0.txt
check half_has_four_digits 0 'conv1_bias 1 2 3c00 c100' tail -n 1 half.wts
check help_goes_to_standard_output 0 'Usage: genwts' "$genwts" --help
check type_is_needed 2 'error: no type' "$genwts" -o out.wts conv1_bias.0.txt
check rejects_an_unknown_type 2 'error: unknown type' "$genwts" -t 3 -o out.wts conv1_bias.0.txt
check output_is_needed 2 'error: no output file' "$genwts" -t 0 conv1_bias.0.txt
check files_are_needed 2 'error: no input files' "$genwts" -t 0 -o out.wts
check rejects_an_unknown_option 2 "error: unknown option '-x'; see genwts --help" "$genwts" -x
check rejects_an_unknown_long_option 2 "error: unknown option '--size=3'; see" "$genwts" --size=3
check unknown_letter_among_others_is_named 2 "error: unknown option '-x'; see" "$genwts" -xt 0
check option_needs_its_value 2 "error: option '-o' needs a value; see" "$genwts" -t 0 -o
check missing_file_is_named 1 "error: none.txt: cannot read: No such file" "$genwts" -t 0 -o out.wts none.txt
check words_are_no_numbers 1 "error: word.txt:1: 'o' is neither" "$genwts" -t 0 -o out.wts word.txt
echo "1..$n"

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests of ln-optgen as a program: exit status, messages, what is left behind. Arguments: the program, the source folder.

optgen=$(realpath "$1")
test=$(realpath "$2")/lightnet/gen/test
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
n=0

# check SENTENCE: the status of the command before it.
check() {
    if [ $? -eq 0 ]; then result=ok; else result='not ok'; fi
    n=$((n + 1))
    echo "$result $n - $1"
}

# rejected NAME: that description of bad_opt.cases.
rejected() {
    sed -n "/^==== $1\$/,/^----\$/{//!p}" "$test/bad_opt.cases" > "$1.opt"
}

cp "$test/small.opt" .
rejected no_semicolon
rejected unknown_size
"$optgen" -o small.c --header small.h --tests small_test.c small.opt &&
    cmp -s small.c "$test/golden/small.c" && cmp -s small.h "$test/golden/small.h" &&
    cmp -s small_test.c "$test/golden/small_test.c"
check 'writes the rules, their declarations and their tests'

"$optgen" small.opt
check 'checks descriptions when no output is requested'

"$optgen" -o small.c --header small.h no_semicolon.opt 2> message
test $? -eq 1 && test ! -e small.c && test ! -e small.h &&
    grep -q "^no_semicolon.opt:11:13: rule 'r': the end is unexpected, expected ';'" message
check 'leaves no output after a mistake'

"$optgen" -o small.c --header small.h --tests small_test.c unknown_size.opt 2> message
test $? -eq 1 && test ! -e small.c && test ! -e small_test.c
check 'leaves no output after a mistake in a test'

"$optgen" --header small.opt small.opt 2> message
test $? -eq 1 && cmp -s small.opt "$test/small.opt"
check 'does not write over a description'

"$optgen" small.opt nothing.opt 2> message
test $? -eq 1 && grep -q nothing.opt message
check 'names a file that is missing'

sed 's/"toy"/"other"/' small.opt > other.opt
"$optgen" small.opt other.opt 2> message
test $? -eq 1 && grep -q "^other.opt:4:13: \"arch\" is 'other'" message
check 'takes the files of one architecture only'

"$optgen" small.opt small.opt 2> message
test $? -eq 1 && grep -q 'already defined' message
check 'rejects what is given twice'

"$optgen" -o small.c small.opt 2> message
test $? -eq 2 && grep -q usage message
check 'exits 2 when used wrongly'

"$optgen" --help | grep -q usage
check 'prints help'

echo "1..$n"

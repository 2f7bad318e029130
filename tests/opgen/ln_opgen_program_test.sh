#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests of ln-opgen as a program: exit status, messages, what is left behind. Arguments: the program, the source folder.

opgen=$(realpath "$1")
test=$(realpath "$2")/lightnet/gen/test
types=$(realpath "$2")/tensorlight/tensor/tl_element.h
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

cp "$test/good.op" "$test/child.op" .
"$opgen" good.op > good.c && test -s good.c
check 'writes to standard output'

"$opgen" good.op -o 1.c && "$opgen" good.op -o 1.c.again && sed 's/1\.c\.again/1.c/' 1.c.again | cmp -s 1.c -
check 'writes the same bytes for the same input'

"$opgen" --with good.op child.op -o child.c --depfile child.d && grep -q 'child.c: child.op good.op' child.d
check 'says what the output depends on'

mkdir ops && cp good.op ops && "$opgen" -I ops child.op -o child2.c
check 'finds what is inherited in a folder'

"$opgen" child.op -o child.c 2> message
test $? -eq 1 && test ! -e child.c && grep -q "^ln-opgen: error: child.op:7:25: operator 'blur_cpu': inherits 'blur'" message
check 'leaves no output after a mistake'

# The generator may not use TensorLight, so it has a list of the data types of its own.
sed -n 's/^    ROW(\(TL_[A-Z0-9]*\),.*/\1/p' "$types" | sort > there
sed 's/"dtype": "FLT"/"dtype": "TL_NONE"/' good.op > wrong.op
"$opgen" wrong.op 2>&1 | sed 's/.*expected one of //' | tr -d ' ' | tr , '\n' | sort > known
test -s there && cmp -s there known
check 'knows the data types of TensorLight'

"$opgen" good.op -o ./good.op 2> message
test $? -eq 1 && cmp -s good.op "$test/good.op"
check 'does not write over a description'

"$opgen" nothing.op 2> message
test $? -eq 1 && grep -q '^ln-opgen: error: .*nothing\.op' message
check 'names a file that is missing'

# tells EXPECTED ARGUMENT...: wrong usage is told in one line that says what was expected, or is not known.
tells() {
    expected=$1
    shift
    "$opgen" "$@" 2> message
    test $? -eq 2 && test "$(wc -l < message)" -eq 1 &&
        grep -q "^ln-opgen: error: $expected.*; see ln-opgen --help\$" message
}

tells 'no description given'
check 'exits 2 without a description'

tells "unknown option '--output-file'" --output-file x.c good.op
check 'exits 2 at an unknown option'

tells "option '-o' needs a value" good.op -o
check 'exits 2 at an option without its value'

tells "option '--docs=x' takes no value" --docs=x good.op
check 'exits 2 at a value that the option does not take'

"$opgen" --help | grep -q usage
check 'prints help'

echo "1..$n"

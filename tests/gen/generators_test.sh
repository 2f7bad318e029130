#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Tests of a generator as a program: exit status, messages, what is left behind. usage: generators_test.sh ln_opgen|ln_optgen PROGRAM SOURCES

tested=$1 program=$(realpath "$2") root=$(realpath "$3")
test=$root/lightnet/gen/test
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

ln_opgen_tests() {
    cp "$test/good.op" "$test/child.op" .
    "$program" good.op > good.c && test -s good.c
    check 'writes to standard output'

    "$program" good.op -o 1.c && "$program" good.op -o 1.c.again && sed 's/1\.c\.again/1.c/' 1.c.again | cmp -s 1.c -
    check 'writes the same bytes for the same input'

    "$program" --with good.op child.op -o child.c --depfile child.d && grep -q 'child.c: child.op good.op' child.d
    check 'writes the dependencies of the output'

    mkdir ops && cp good.op ops && "$program" -I ops child.op -o child2.c
    check 'finds what is inherited in a folder'

    "$program" child.op -o none.c 2> message
    test $? -eq 1 && test ! -e none.c && grep -q "^ln-opgen: error: child.op:7:25: operator 'blur_cpu': inherits 'blur'" message
    check 'writes no output after a mistake'

    # The generator may not use TensorLight, so it has a list of the types that compute, and of strings.
    { sed -n 's/^    ROW(\(TL_[A-Z0-9]*\),.*/\1/p' "$root/tensorlight/tensor/tl_element.h" && echo TL_STRING; } | sort > there
    sed 's/"dtype": "FLT"/"dtype": "TL_NONE"/' good.op > wrong.op
    "$program" wrong.op 2>&1 | sed 's/.*expected one of //' | tr -d ' ' | tr , '\n' | sort > known
    test -s there && cmp -s there known
    check 'knows the data types of TensorLight'

    "$program" good.op -o ./good.op 2> message
    test $? -eq 1 && cmp -s good.op "$test/good.op"
    check 'does not write over a description'

    cat > null.op << 'END'
{"ops": [{"optype": "x", "author": "A", "arch": "none", "mtype": "LN_MEM_CPU", "tensors_in": [], "tensors_out": [],
          "params": [{"arg_name": "p", "ptype": "LN_PARAM_NULL"}, {"arg_name": "f", "ptype": "LN_PARAM_STRING", "from_func": "f_of"}],
          "run": "use(p, f);"}]}
END
    "$program" null.op -o null.c && grep -q '^    const void \*p = priv->p;$' null.c && grep -q '^    const int f = priv->f;$' null.c
    check 'gives a parameter without a value a null pointer, and the result of a function the type int'

    "$program" nothing.op 2> message
    test $? -eq 1 && grep -q '^ln-opgen: error: .*nothing\.op' message
    check 'names a file that is missing'

    # tells EXPECTED ARGUMENT...: checks that a usage error prints one line with the unexpected or expected argument.
    tells() {
        expected=$1
        shift
        "$program" "$@" 2> message
        test $? -eq 2 && test "$(wc -l < message)" -eq 1 &&
            grep -q "^ln-opgen: error: $expected.*; see ln-opgen --help\$" message
    }

    tells 'the following arguments are required: FILE.op'
    check 'exits 2 without a description'

    tells 'unrecognized arguments: --output-file' --output-file x.c good.op
    check 'exits 2 at an unknown option'

    tells 'argument -o/--output: expected one argument' good.op -o
    check 'exits 2 at an option without its value'

    tells "argument --docs: ignored explicit argument 'x'" --docs=x good.op
    check 'exits 2 at a value that the option does not take'

    "$program" --help | grep -q usage
    check 'prints help'
}

ln_optgen_tests() {
    # rejected NAME: that description of bad_opt.cases.
    rejected() {
        sed -n "/^==== $1\$/,/^----\$/{//!p}" "$test/bad_opt.cases" > "$1.opt"
    }

    cp "$test/small.opt" .
    rejected no_semicolon
    rejected unknown_size
    "$program" -o small.c --header small.h --tests small_test.c small.opt &&
        cmp -s small.c "$test/golden/small.c" && cmp -s small.h "$test/golden/small.h" &&
        cmp -s small_test.c "$test/golden/small_test.c"
    check 'writes the rules, their declarations and their tests'

    "$program" small.opt
    check 'checks descriptions when no output is requested'

    "$program" -o none.c --header none.h no_semicolon.opt 2> message
    test $? -eq 1 && test ! -e none.c && test ! -e none.h &&
        grep -q "^ln-optgen: error: no_semicolon.opt:11:13: rule 'r': the end is unexpected, expected ';'" message
    check 'writes no output after a mistake'

    "$program" -o none.c --header none.h --tests none_test.c unknown_size.opt 2> message
    test $? -eq 1 && test ! -e none.c && test ! -e none.h && test ! -e none_test.c
    check 'writes no output after a mistake in a test'

    "$program" --header small.opt small.opt 2> message
    test $? -eq 1 && cmp -s small.opt "$test/small.opt"
    check 'does not write over a description'

    "$program" small.opt nothing.opt 2> message
    test $? -eq 1 && grep -q nothing.opt message
    check 'names a file that is missing'

    sed 's/"toy"/"other"/' small.opt > other.opt
    "$program" small.opt other.opt 2> message
    test $? -eq 1 && grep -q "^ln-optgen: error: other.opt:4:13: \"arch\" is 'other'" message
    check 'takes the files of one architecture only'

    "$program" small.opt small.opt 2> message
    test $? -eq 1 && grep -q 'already defined' message
    check 'rejects what is given twice'

    "$program" -o small.c small.opt 2> message
    test $? -eq 2 && grep -q '^ln-optgen: error: -o needs --header' message
    check 'exits 2 when used wrongly'

    "$program" --help | grep -q usage
    check 'prints help'
}

"${tested}_tests"
echo "1..$n"

# SPDX-License-Identifier: Apache-2.0
# What the tests of the small tools share; they read it, work in a new folder from then on, and end
# with the plan, `echo "1..$n"`.

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

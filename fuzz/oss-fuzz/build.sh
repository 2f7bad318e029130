#!/bin/bash -eu
# SPDX-License-Identifier: Apache-2.0
# Builds the fuzz targets as OSS-Fuzz wants them: a program for each target in $OUT, with its seeds and dictionary beside it.
# OSS-Fuzz sets CC, CFLAGS, LIB_FUZZING_ENGINE, SRC, WORK and OUT.
cd "$SRC/lightnet"

# Static libraries, since $OUT alone moves to the machines that search; OSS-Fuzz's CFLAGS choose the sanitizer.
meson setup "$WORK/build" -Dfuzz=enabled -Dfuzz_engine="$LIB_FUZZING_ENGINE" -Db_lundef=false -Doptimization=1 \
    -Dcuda=disabled -Ddnnl=disabled -Dpython=disabled -Dhardening=false -Dprefer_static=true
ninja -C "$WORK/build" fuzz/fuzz

# The program finds its target in its own name.
"$WORK/build/fuzz/fuzz" -help=1 2>&1 | sed -n 's/.*expected //p' | tr ' ' '\n' | while read -r target; do
    cp "$WORK/build/fuzz/fuzz" "$OUT/fuzz_$target"
    [ ! -d "fuzz/seeds/$target" ] || (cd "fuzz/seeds/$target" && python3 -m zipfile -c "$OUT/fuzz_${target}_seed_corpus.zip" .)
    case $target in
    onnx | onnx_sequence | session) dictionary=onnx ;;
    ir | compiled) dictionary=ir ;;
    *) dictionary=$target ;;
    esac
    [ ! -e "fuzz/dictionaries/$dictionary.dict" ] || cp "fuzz/dictionaries/$dictionary.dict" "$OUT/fuzz_$target.dict"
done

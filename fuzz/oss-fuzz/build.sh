#!/bin/bash -eu
# SPDX-License-Identifier: Apache-2.0
# Builds the fuzz targets as OSS-Fuzz wants them: a program for each target in $OUT, with its seeds and dictionary beside it.
# OSS-Fuzz sets CC, CFLAGS, LIB_FUZZING_ENGINE, SRC, WORK and OUT.
cd "$SRC/lightnet"

# Static libraries only, since $OUT alone moves to the machines that search; OSS-Fuzz's CFLAGS choose the sanitizer.
meson setup "$WORK/build" -Dfuzz=enabled -Dfuzz_engine="$LIB_FUZZING_ENGINE" -Db_lundef=false -Doptimization=1 \
    -Dcuda=disabled -Ddnnl=disabled -Dpython=disabled -Dhardening=false -Dprefer_static=true -Ddefault_library=static
ninja -C "$WORK/build" fuzz/fuzz

targets=$(fuzz/corpus.py "$WORK/build" "$WORK/seeds")
# The program finds its target in its own name.
for target in $targets; do
    cp "$WORK/build/fuzz/fuzz" "$OUT/fuzz_$target"
    (cd "$WORK/seeds/$target" && python3 -m zipfile -c "$OUT/fuzz_${target}_seed_corpus.zip" .)
    [ ! -e "$WORK/seeds/$target.dict" ] || cp "$WORK/seeds/$target.dict" "$OUT/fuzz_$target.dict"
done

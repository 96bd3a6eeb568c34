#!/usr/bin/env bash
# Builds a program of each target into OUT, for libFuzzer. OSS-Fuzz sets OUT, CXX, CXXFLAGS and
# LIB_FUZZING_ENGINE.
set -euo pipefail
cd "$(dirname "$0")"
: "${OUT:?is the folder for the programs}" "${CXX:=clang++}" "${LIB_FUZZING_ENGINE:=-fsanitize=fuzzer}"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir -p "$OUT"
for target in json streams yaml schema requests; do
	CGO_ENABLED=1 go build -tags libfuzzer -buildmode=c-archive -trimpath -ldflags "-X main.name=$target" \
		-gcflags='github.com/espalier-dev/espalier/...=-d=libfuzzer' -o "$dir/$target.a" .
	# shellcheck disable=SC2086 # flags are words
	$CXX ${CXXFLAGS:-} $LIB_FUZZING_ENGINE "$dir/$target.a" -o "$OUT/$target"
done

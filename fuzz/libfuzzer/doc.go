// Libfuzzer is the fuzz targets that run for long, for libFuzzer and so for OSS-Fuzz. build.sh makes a
// program of each:
//
//	OUT=/tmp/targets ./build.sh
//	/tmp/targets/json -max_total_time=600 /tmp/corpus-of-json
//
// It needs clang. An input is a schema, a zero byte, and what is read with it, behind a byte that says how.
// The mutators know what that is: they make and change schemas as package fuzz does, objects as package
// sample does, YAML by lines and tokens, and requests by their parts. They leave a part of the inputs to
// libFuzzer, which changes bytes. What is asserted is what go test asserts, so that a finding is a case for
// it: see package internal/laws.
package main

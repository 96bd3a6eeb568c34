//go:build libfuzzer

package main

// #include <stddef.h>
// #include <stdint.h>
// size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);
import "C"

import (
	"math/rand/v2"
	"unsafe"
)

// name is set by build.sh.
var name string

//export LLVMFuzzerTestOneInput
func LLVMFuzzerTestOneInput(data *C.uint8_t, size C.size_t) C.int {
	if in, ok := parseInput(unsafe.Slice((*byte)(unsafe.Pointer(data)), int(size))); ok {
		targets[name].check(&failure{context: name}, in)
	}
	return 0
}

// LLVMFuzzerCustomMutator changes data in place: one in four by bytes, as libFuzzer does without it.
//
//export LLVMFuzzerCustomMutator
func LLVMFuzzerCustomMutator(data *C.uint8_t, size, most C.size_t, seed C.uint) C.size_t {
	r := rand.New(rand.NewPCG(uint64(seed), 0))
	in, ok := parseInput(unsafe.Slice((*byte)(unsafe.Pointer(data)), int(size)))
	if ok && r.IntN(4) == 0 {
		return C.LLVMFuzzerMutate(data, size, most)
	}
	changed := targets[name].mutateInput(in, r).append(nil)
	if len(changed) > int(most) {
		return C.LLVMFuzzerMutate(data, size, most)
	}
	return C.size_t(copy(unsafe.Slice((*byte)(unsafe.Pointer(data)), int(most)), changed))
}

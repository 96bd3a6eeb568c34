package cel

import (
	"runtime"
	"sync"
	"weak"
)

// An interner has one value for each key, as long as somebody uses it.
type interner[K comparable, V any] struct {
	mu     sync.Mutex
	values map[K]weak.Pointer[V]
}

// get returns the value of a key, which must not refer to it. If there is none, it is made, for
// which get may be called again.
func (in *interner[K, V]) get(key K, make func() *V) *V {
	if v := in.find(key); v != nil {
		return v
	}
	made := make()
	in.mu.Lock()
	defer in.mu.Unlock()
	if v := in.values[key].Value(); v != nil { // somebody else was faster
		return v
	}
	if in.values == nil {
		in.values = map[K]weak.Pointer[V]{}
	}
	in.values[key] = weak.Make(made)
	runtime.AddCleanup(made, in.forget, key)
	return made
}

func (in *interner[K, V]) find(key K) *V {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.values[key].Value()
}

// forget drops a key whose value is gone, unless it has another value by now.
func (in *interner[K, V]) forget(key K) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.values[key].Value() == nil {
		delete(in.values, key)
	}
}

package request

import (
	"bytes"
	"encoding/json"
	"sync"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/schema"
)

// ByKind returns a Finder of the resources of a catalog by the type of the
// object in the body. Bodies whose type the catalog does not know, or that have
// none, are refused; this includes most patches. While the type is looked for,
// aliases are limited as a [Resource] limits them by default: a larger limit in
// the options has no effect then. ByKind panics if the catalog is nil, if
// decoder.New refuses the options, or if values are to be validated and the
// programs of the catalog cannot do that.
//
// With [Request].Stream it decides as soon as apiVersion and kind of a JSON
// object have passed, and what was read until then is held. In what Kubernetes'
// clients write they come first. If they come last, the body is held up to
// there, which is charged like any other body.
func ByKind(catalog *schema.Catalog, opts ...decoder.Option) Finder {
	opts = mustFind(catalog, opts)
	made := &kinds{catalog: catalog, opts: opts}
	return func(_ *Request, peek Peek) (*Resource, error) {
		apiVersion, kind, err := peek()
		if err != nil {
			return nil, err
		}
		return made.find(apiVersion, kind)
	}
}

// kinds are the resources that were made so far, by their types. There are at most as many as the
// catalog has: those of an older generation are dropped.
type kinds struct {
	catalog *schema.Catalog
	opts    []decoder.Option

	mu         sync.RWMutex
	generation uint64
	made       map[[2]string]*Resource
}

// find returns the resource of a type. It makes a new one if the program is another.
func (k *kinds) find(apiVersion, kind string) (*Resource, error) {
	// The number is read before the program, which is then of that generation or of a later one.
	generation := k.catalog.Generation()
	program, err := k.catalog.Lookup(apiVersion, kind)
	key := [2]string{apiVersion, kind}
	k.mu.RLock()
	res, isFresh := k.made[key], k.generation == generation
	k.mu.RUnlock()
	if !isFresh {
		k.forget(generation)
	}
	if err != nil {
		return nil, err
	}
	if res != nil && res.Program == program {
		return res, nil
	}
	if cannotValidate(program, k.opts) {
		return nil, errNoValues
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if res = k.made[key]; res == nil || res.Program != program {
		res = &Resource{APIVersion: apiVersion, Kind: kind, Program: program, Decoder: k.opts}
		if k.made == nil {
			k.made = map[[2]string]*Resource{}
		}
		if k.generation == generation { // otherwise the catalog may not have it any more
			k.made[key] = res
		}
	}
	return res, nil
}

// forget drops the resources that the catalog does not have any more.
func (k *kinds) forget(generation uint64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.generation = generation
	for key, res := range k.made {
		if program, err := k.catalog.Lookup(key[0], key[1]); err != nil || program != res.Program {
			delete(k.made, key)
		}
	}
}

// A typeScanner looks for apiVersion and kind in the start of a JSON object, while it grows. What it
// does not understand it does not find; the whole body is then judged as any other.
type typeScanner struct {
	at         int // of the next byte
	depth      int
	start      int // of the string that is open at depth 1
	inString   bool
	isEscaped  bool // the next byte of the string is
	isValue    bool // at depth 1, what comes next is a value
	name       string
	apiVersion *string
	kind       *string
}

// scan goes on to the end of text, which begins with what it was before, and reports whether both
// were found.
func (s *typeScanner) scan(text []byte) bool {
	for ; s.at < len(text) && (s.apiVersion == nil || s.kind == nil); s.at++ {
		switch c := text[s.at]; {
		case s.isEscaped:
			s.isEscaped = false
		case s.inString && c == '\\':
			s.isEscaped = true
		case s.inString:
			if c == '"' {
				s.inString = false
				s.endString(text)
			}
		case c == '"':
			s.inString, s.start = true, s.at
		case c == '{' || c == '[':
			s.depth++
		case c == '}' || c == ']':
			s.depth--
		case s.depth == 1 && c == ':':
			s.isValue = true
		case s.depth == 1 && c == ',':
			s.isValue = false
		}
	}
	return s.apiVersion != nil && s.kind != nil
}

// endString notes a string at depth 1, which ends at s.at.
func (s *typeScanner) endString(text []byte) {
	const most = 1 << 10 // more is no type
	quoted := text[s.start : s.at+1]
	value := string(quoted[1:min(len(quoted)-1, most)])
	isEscaped := bytes.IndexByte(quoted, '\\') >= 0
	switch {
	case s.depth != 1 || len(quoted) > most || isEscaped && json.Unmarshal(quoted, &value) != nil:
		s.name = ""
	case !s.isValue:
		s.name = value
	case s.name == "apiVersion":
		s.apiVersion = &value
	case s.name == "kind":
		s.kind = &value
	}
}

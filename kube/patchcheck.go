package kube

// This file checks patches themselves, without an object.

import (
	"bytes"
	"fmt"
	"strings"
	"sync"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	kjson "sigs.k8s.io/json"

	"github.com/espalier-dev/espalier/decoder"
	ferrors "github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/schema"
)

// Pools of decoders for the patches themselves.
var (
	jsonPatches = sync.OnceValue(func() *decoder.Pool {
		return patchPool(patchProgram(`{"type": "array", "items": {"type": "object", "properties": {
			"op": {"type": "string"}, "path": {"type": "string"}, "from": {"type": "string"},
			"value": {"x-kubernetes-preserve-unknown-fields": true}}}}`), decoder.Limits{})
	})
	anyObject  = sync.OnceValue(func() *decoder.Pool { return patchPool(anyProgram(), decoder.Limits{}) })
	anyProgram = sync.OnceValue(func() *schema.Program {
		return patchProgram(`{"type": "object", "x-kubernetes-preserve-unknown-fields": true}`)
	})
)

// patchProgram compiles a schema, which must be valid.
func patchProgram(text string) *schema.Program {
	s, err := schema.Parse([]byte(text))
	if err != nil {
		panic(err)
	}
	p, err := schema.Compile(s, schema.ResourceRoot(false), schema.KEP)
	if err != nil {
		panic(err)
	}
	return p
}

// patchPool returns decoders that check types.
func patchPool(p *schema.Program, limits decoder.Limits) *decoder.Pool {
	return decoder.NewPool(p, limits, decoder.ServerRequests, decoder.NumbersAsSent(true))
}

// An operation is one operation of a JSON patch. The server's type has another name: see
// checkPatch.
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	From  string `json:"from"`
	Value any    `json:"value"`
}

// CheckJSONPatch returns the findings that the API server has for a JSON patch
// (RFC 6902) under decoder.Strict and decoder.Warn: repeated names, and unknown
// fields of operations, such as `json patch duplicate field "[0].op"`. Each
// wraps an *errors.Finding, which has the position. The values of operations
// are not checked against a schema; [Resource.Patch] does that for the result.
//
// A patch that is not an array of operations is an [*Error] with the server's
// text.
func CheckJSONPatch(patch []byte) ([]error, error) {
	found, err := checkPatch(jsonPatches(), patch, &[]operation{})
	return ofJSONPatch(found), err
}

// ofJSONPatch makes findings say that they are in a JSON patch, in place.
func ofJSONPatch(found []error) []error {
	for i, f := range found {
		found[i] = fmt.Errorf("json patch %w", f)
	}
	return found
}

// checkPatch decodes a patch and returns the findings in it, in the order of the document. The
// server decodes it to a value like v, and so its text for a patch of a wrong shape comes from
// that.
func checkPatch(pool *decoder.Pool, patch []byte, v any) (found []error, err error) {
	d := pool.Get()
	defer pool.Put(d)
	if _, err := d.AppendJSON(nil, patch); err != nil {
		server := kjson.UnmarshalCaseSensitivePreserveInts(patch, v)
		if server == nil || isLimit(err) {
			return nil, err
		}
		names := strings.NewReplacer("kube.operation", "handlers.jsonPatchOp", "operation.", "jsonPatchOp.")
		text := names.Replace(server.Error())
		return nil, &Error{Text: text, Err: err, server: server}
	}
	list := withoutUnknown(d.Findings())
	list.SortByPosition()
	for i := range list {
		found = append(found, &list[i])
	}
	if n := d.Omitted(); n > 0 {
		found = append(found, omitted(n))
	}
	return found, nil
}

// withoutUnknown returns the findings except duplicates of unknown fields, or within these, where
// the server does not look.
func withoutUnknown(list ferrors.List) ferrors.List {
	kept := make(ferrors.List, 0, len(list))
	for _, f := range list {
		if f.Kind != ferrors.DuplicateField || !isUnknown(list, f.Path) {
			kept = append(kept, f)
		}
	}
	return kept
}

func isUnknown(list ferrors.List, path ferrors.Path) bool {
	for i := range list {
		if f := &list[i]; f.Kind == ferrors.UnknownField && (path == f.Path || path.IsWithin(f.Path)) {
			return true
		}
	}
	return false
}

// DecodeMergePatch prunes a merge patch (RFC 7386) for objects of a version of
// the resource, without an object. Unknown fields are removed, nulls stay
// because they are deletions, and nothing is defaulted. It returns the patch as
// JSON, with the findings under decoder.Warn and decoder.Strict: repeated
// names, and unknown fields that are not null. These are the findings that the
// server has for the result, if the object was pruned before.
//
// Under Strict the findings are also returned as an *errors.StrictError. Other
// errors are those of decoder.Decoder.AppendJSON, for example for metadata of a
// wrong type, and one for a FieldValidation that is not one of the constants.
func (r *Resource) DecodeMergePatch(
	version string, patch []byte, v decoder.FieldValidation,
) ([]byte, ferrors.List, error) {
	if err := r.check(); err != nil {
		return nil, nil, err
	}
	if _, err := v.MarshalText(); err != nil {
		return nil, nil, err
	}
	of := r.versions[version]
	if of == nil {
		of = r.unversioned
	}
	pool, err := of.mergePatches()
	if err != nil {
		return nil, nil, err
	}
	d := pool.Get()
	defer pool.Put(d)
	out, err := d.AppendJSON(nil, patch)
	if err != nil || v == decoder.Ignore {
		return out, nil, err
	}
	list := withoutRemovals(d.Findings(), patch)
	if v == decoder.Strict && len(list)+d.Omitted() > 0 {
		err = ferrors.NewStrictError(list, d.Omitted())
	}
	return out, list, err
}

// mergePatchPool returns a function that makes decoders for merge patches, which few programs need.
func (r *Resource) mergePatchPool(
	structural *structuralschema.Structural,
) func() (*decoder.Pool, error) {
	return sync.OnceValues(func() (*decoder.Pool, error) {
		s := new(coreMaker).core(structural)
		if s == nil {
			s = new(schema.Structural)
		}
		p, err := schema.Compile(s.MergePatch(), schema.PreserveUnknownFields(r.preserve))
		if err != nil {
			return nil, err
		}
		return decoder.NewPool(p, r.limits, decoder.Warn), nil
	})
}

// withoutRemovals returns the findings except unknown fields that are null: removing an absent
// field is no mistake.
func withoutRemovals(list ferrors.List, patch []byte) ferrors.List {
	kept := make(ferrors.List, 0, len(list))
	for _, f := range list {
		if f.Kind != ferrors.UnknownField || !isNullMember(patch[f.Position.Offset:]) {
			kept = append(kept, f)
		}
	}
	return kept
}

// isNullMember reports whether the value of a member is null, in JSON text that starts with its
// name.
func isNullMember(text []byte) bool {
	i := 1
	for ; text[i] != '"'; i++ {
		if text[i] == '\\' {
			i++
		}
	}
	return bytes.HasPrefix(bytes.TrimLeft(text[i+1:], ": \t\r\n"), []byte("null"))
}

package spec

import (
	"encoding/json"
	"strconv"

	"github.com/espalier-dev/espalier/errors"
)

// A Mode says whether values are those that were sent, or those that a server has made of them.
type Mode uint8

// The modes. They have names in package decoder: none, ServerRequests and ServerStorage.
const (
	AsSent   Mode = iota // what stays is as it was sent
	Requests             // custom resources that are sent to a server
	Stored               // what a server reads from its storage
)

// In returns the rules in a mode. It is specified under schema.Deployed, for resources. How the
// server reads apiVersion and kind of the root, beyond that they are strings, is not specified.
func (r Rules) In(mode Mode) Rules {
	r.mode = mode
	return r
}

// readNumbers returns a value with its numbers as the server writes them: it reads a number as an
// int64 if it can be one, and as a float64 otherwise (sigs.k8s.io/json: convertNumber).
func readNumbers(v Value) Value {
	switch v := v.(type) {
	case Object:
		return v.filter(func(m *Member) bool {
			m.Value = readNumbers(m.Value)
			return true
		})
	case Array:
		return v.each(func(_ int, e Value) Value { return readNumbers(e) })
	case json.Number:
		if i, err := strconv.ParseInt(v.String(), 10, 64); err == nil {
			return json.Number(strconv.FormatInt(i, 10))
		}
		f, _ := v.Float64()
		return json.Number(Text(f))
	}
	return v
}

// decodeStored is Decode for what a server reads from its storage (crdConversionRESTOptionsGetter
// in customresource_handler.go). It decodes, drops malformed metadata and inserts defaults. Then
// it converts, and as a part of that it does to the result all that it does to a request, but for
// defaults. So what a default brings that would not stay if it were sent does not stay either.
// Nothing is reported but values that are refused.
func (r Rules) decodeStored(v Value) (result Value, found errors.List, ok bool) {
	var f, unreported findings
	v = r.prune(v, r.schema, false, nil, &unreported)
	v = r.dropNulls(v, r.schema)
	v = r.repairMetadata(v, r.schema, true)
	r.checkTypes(v, r.schema, false, nil, &f)
	if len(f.refused()) > 0 {
		return nil, f.list(), false
	}
	v = repairGeneration(v)
	v = r.insertDefaults(v, r.schema)

	v = r.prune(v, r.schema, false, nil, &unreported)
	v = r.dropNulls(v, r.schema)
	v = r.pruneMetadata(v, r.schema, nil, &unreported)
	r.checkTypes(v, r.schema, false, nil, &f)
	if len(f.refused()) > 0 {
		return nil, f.list(), false
	}
	return readNumbers(r.repairMetadata(v, r.schema, true)), nil, true
}

// repairGeneration returns an object whose metadata, if it has any, has the generation 1 if it had
// none (unstructuredSchemaCoercer.apply).
func repairGeneration(v Value) Value {
	return v.(Object).filter(func(m *Member) bool {
		metadata, isObject := m.Value.(Object)
		if m.Name == "metadata" && isObject && !metadata.has("generation") {
			m.Value = append(metadata, Member{"generation", json.Number("1")})
		}
		return true
	})
}

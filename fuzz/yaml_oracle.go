package fuzz

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"

	goyaml "go.yaml.in/yaml/v2"
	"sigs.k8s.io/yaml"
)

// A YAMLAnswer is the API server's reading of a YAML body, before it goes on with it as JSON.
type YAMLAnswer struct {
	Value any
	// Duplicates are the lines of the strict error about repeated names.
	Duplicates []string
}

// errServerPanic is a defect of the server's reader, not a verdict.
var errServerPanic = errors.New("the server panics")

// ReadYAML is the server's reading of a body. The value is that of the lenient reading. The strict
// one only gives its errors.
func ReadYAML(src []byte) (a *YAMLAnswer, err error) {
	defer func() {
		if r := recover(); r != nil {
			a, err = nil, fmt.Errorf("%w: %v", errServerPanic, r)
		}
	}()
	js, err := yaml.YAMLToJSON(src)
	if err != nil {
		return nil, err
	}
	a = new(YAMLAnswer)
	if a.Value, err = decodeJSON(js); err != nil {
		return nil, err
	}
	_, err = yaml.YAMLToJSONStrict(src)
	var strict *goyaml.TypeError
	switch {
	case errors.As(err, &strict):
		a.Duplicates = strict.Errors
	case err != nil:
		return nil, fmt.Errorf("only the strict reading fails: %w", err)
	}
	return a, nil
}

// decodeJSON decodes a value. Of members with one name the last wins. Numbers keep their text,
// except that -0 is 0, as after the server's next step.
func decodeJSON(js []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(js))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if d.InputOffset() != int64(len(js)) {
		return nil, errors.New("more than one value")
	}
	return withoutMinusZero(v), nil
}

func withoutMinusZero(v any) any {
	switch v := v.(type) {
	case json.Number:
		if v == "-0" {
			return json.Number("0")
		}
	case []any:
		for i := range v {
			v[i] = withoutMinusZero(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = withoutMinusZero(v[name])
		}
	}
	return v
}

// CouldBe reports whether the server could have read v from src in another run: of names that are
// equal only as strings, such as 1 and "1", it keeps the one that comes last in the order of a Go
// map. random reports whether there are any such names.
func CouldBe(src []byte, v any) (could, random bool) {
	var object any
	if goyaml.Unmarshal(src, &object) != nil {
		return false, false
	}
	could = isCandidate(object, v, &random)
	return could, random
}

// isCandidate reports whether sigs.k8s.io/yaml can make v of x.
func isCandidate(x, v any, random *bool) bool {
	switch x := x.(type) {
	case map[any]any:
		object, ok := v.(map[string]any)
		if !ok {
			return false
		}
		candidates := make(map[string][]any)
		for key, value := range x {
			name := keyName(key)
			candidates[name] = append(candidates[name], value)
		}
		if len(candidates) != len(object) {
			return false
		}
		for name, values := range candidates {
			got, found := object[name]
			*random = *random || len(values) > 1
			if !found || !slices.ContainsFunc(values, func(x any) bool { return isCandidate(x, got, random) }) {
				return false
			}
		}
		return true
	case []any:
		array, ok := v.([]any)
		if !ok || len(array) != len(x) {
			return false
		}
		for i := range x {
			if !isCandidate(x[i], array[i], random) {
				return false
			}
		}
		return true
	}
	js, err := json.Marshal(x)
	if err != nil {
		return false
	}
	want, err := decodeJSON(js)
	return err == nil && reflect.DeepEqual(want, v)
}

// keyName returns the name that sigs.k8s.io/yaml makes of a key.
func keyName(key any) string {
	f, isFloat := key.(float64)
	if !isFloat {
		return fmt.Sprint(key)
	}
	switch {
	case math.IsNaN(f):
		return ".nan"
	case strconv.FormatFloat(f, 'g', -1, 32) == "+Inf":
		return ".inf"
	case strconv.FormatFloat(f, 'g', -1, 32) == "-Inf":
		return "-.inf"
	}
	return strconv.FormatFloat(f, 'g', -1, 32)
}

package decoder

// This file rewrites results as the API server writes them: numbers as they are
// after decoding, and metadata as it is after a round trip through ObjectMeta.
// Most documents need neither.

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"

	kjson "sigs.k8s.io/json"

	"github.com/espalier-dev/espalier/internal/jsonwire"
)

// appendNumbers appends the JSON text b with its numbers as the server writes
// them: int64 where the literal is an integer that fits, or else float64.
func appendNumbers(dst, b []byte) []byte {
	from := 0
	for i := 0; i < len(b); {
		switch c := b[i]; {
		case c == '"':
			end, _, _ := jsonwire.ScanString(b, i+1)
			i = end + 1
		case c == '-' || c >= '0' && c <= '9':
			end, kind, _, _ := jsonwire.ScanNumber(b, i)
			if isOddNumber(b[i:end], kind) {
				dst = append(dst, b[from:i]...)
				dst = appendNumber(dst, b[i:end], kind)
				from = end
			}
			i = end
		default:
			i++
		}
	}
	return append(dst, b[from:]...)
}

// isOddNumber reports whether the server may write a number otherwise.
func isOddNumber(lit []byte, kind jsonwire.Number) bool {
	return kind == jsonwire.Fraction || len(lit) >= 19 || len(lit) == 2 && lit[0] == '-' && lit[1] == '0'
}

func appendNumber(dst, lit []byte, kind jsonwire.Number) []byte {
	if kind == jsonwire.Integer {
		if n, err := strconv.ParseInt(string(lit), 10, 64); err == nil {
			return strconv.AppendInt(dst, n, 10)
		}
	}
	f, _ := strconv.ParseFloat(string(lit), 64)
	text, _ := json.Marshal(f) // as the server does it; a float64 is always written
	return append(dst, text...)
}

// These are metav1.ObjectMeta and what is in it, as far as JSON goes
// (k8s.io/apimachinery v0.37).
type (
	v1ObjectMeta struct {
		Name                       string             `json:"name,omitempty"`
		GenerateName               string             `json:"generateName,omitempty"`
		Namespace                  string             `json:"namespace,omitempty"`
		SelfLink                   string             `json:"selfLink,omitempty"`
		UID                        string             `json:"uid,omitempty"`
		ResourceVersion            string             `json:"resourceVersion,omitempty"`
		Generation                 int64              `json:"generation,omitempty"`
		CreationTimestamp          v1Time             `json:"creationTimestamp,omitzero"`
		DeletionTimestamp          *v1Time            `json:"deletionTimestamp,omitempty"`
		DeletionGracePeriodSeconds *int64             `json:"deletionGracePeriodSeconds,omitempty"`
		Labels                     map[string]string  `json:"labels,omitempty"`
		Annotations                map[string]string  `json:"annotations,omitempty"`
		OwnerReferences            []v1OwnerReference `json:"ownerReferences,omitempty"`
		Finalizers                 []string           `json:"finalizers,omitempty"`
		ManagedFields              []v1ManagedFields  `json:"managedFields,omitempty"`
	}
	v1OwnerReference struct {
		APIVersion         string `json:"apiVersion"`
		Kind               string `json:"kind"`
		Name               string `json:"name"`
		UID                string `json:"uid"`
		Controller         *bool  `json:"controller,omitempty"`
		BlockOwnerDeletion *bool  `json:"blockOwnerDeletion,omitempty"`
	}
	v1ManagedFields struct {
		Manager     string    `json:"manager,omitempty"`
		Operation   string    `json:"operation,omitempty"`
		APIVersion  string    `json:"apiVersion,omitempty"`
		Time        *v1Time   `json:"time,omitempty"`
		FieldsType  string    `json:"fieldsType,omitempty"`
		FieldsV1    *v1Fields `json:"fieldsV1,omitempty"`
		Subresource string    `json:"subresource,omitempty"`
	}
	v1Time   struct{ time.Time }
	v1Fields struct{ json.RawMessage }
)

func (t *v1Time) UnmarshalJSON(b []byte) error {
	var text *string
	if err := json.Unmarshal(b, &text); err != nil {
		return err
	}
	*t = v1Time{}
	if text == nil {
		return nil
	}
	parsed, err := time.Parse(time.RFC3339, *text)
	t.Time = parsed
	return err
}

func (t v1Time) MarshalJSON() ([]byte, error) {
	if t.IsZero() {
		return []byte("null"), nil
	}
	return t.UTC().AppendFormat([]byte{'"'}, time.RFC3339+`"`), nil
}

// appendMetadata appends metadata after a round trip through ObjectMeta. Where
// dropInvalid is set, members that do not fit are left out; metadata that is no
// object never fits.
func appendMetadata(dst, b []byte, dropInvalid, repairGeneration bool) ([]byte, error) {
	b = appendNumbers(nil, b)
	var m v1ObjectMeta
	if err := kjson.UnmarshalCaseSensitivePreserveInts(b, &m); err != nil {
		if !dropInvalid {
			return dst, err
		}
		if m, err = fittingMembers(b); err != nil {
			return dst, err
		}
	}
	if repairGeneration && m.Generation == 0 {
		m.Generation = 1
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(&m); err != nil {
		return dst, err
	}
	return append(dst, bytes.TrimSuffix(out.Bytes(), []byte("\n"))...), nil
}

// fittingMembers decodes those members of metadata that fit, each for itself.
func fittingMembers(b []byte) (m v1ObjectMeta, err error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(b, &members); err != nil {
		return m, err
	}
	for name, value := range members {
		one := append(append(append(jsonwire.AppendQuoted([]byte{'{'}, name), ':'), value...), '}')
		if kjson.UnmarshalCaseSensitivePreserveInts(one, new(v1ObjectMeta)) == nil {
			if err := kjson.UnmarshalCaseSensitivePreserveInts(one, &m); err != nil {
				return m, err
			}
		}
	}
	return m, nil
}

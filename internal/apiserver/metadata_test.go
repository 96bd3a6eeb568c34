package apiserver

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestAppend(t *testing.T) {
	for _, c := range []struct {
		in, want, dropped string // want is empty if the text is refused
	}{
		{`{}`, `{}`, `{}`},
		{`null`, `{}`, `{}`},
		{`{"name":"","labels":{},"finalizers":[],"x":1}`, `{}`, `{}`},
		{`{"labels":{"a":null},"finalizers":[null]}`, `{"labels":{"a":""},"finalizers":[""]}`, `{"labels":{"a":""},"finalizers":[""]}`},
		{`{"generation":1e3}`, `{"generation":1000}`, `{"generation":1000}`},
		{`{"creationTimestamp":"2020-01-01T00:00:00.5+02:00"}`, `{"creationTimestamp":"2019-12-31T22:00:00Z"}`, `{"creationTimestamp":"2019-12-31T22:00:00Z"}`},
		{`{"managedFields":[{"fieldsV1":{"f:a":{}},"time":null},{"fieldsV1":null}]}`, `{"managedFields":[{"fieldsV1":{"f:a":{}}},{}]}`, `{"managedFields":[{"fieldsV1":{"f:a":{}}},{}]}`},
		{`{"creationTimestamp":null,"deletionTimestamp":null}`, `{}`, `{}`},
		{`{"deletionTimestamp":"0001-01-01T00:00:00Z"}`, `{"deletionTimestamp":null}`, `{"deletionTimestamp":null}`},
		{`{"name":"n","creationTimestamp":5}`, ``, `{"name":"n"}`},
		{`{"name":"n","labels":{"a":5},"creationTimestamp":"x"}`, ``, `{"name":"n"}`},
		{`{"annotations":{"a":"<&>"}}`, `{"annotations":{"a":"<&>"}}`, `{"annotations":{"a":"<&>"}}`},
		{`"x"`, ``, ``},
	} {
		out, err := AppendMetadata([]byte("x"), []byte(c.in), false, false, nil)
		assert.Equal(t, c.want == "", err != nil, c.in)
		if err == nil {
			assert.Equal(t, "x"+c.want, string(out))
		}
		out, err = AppendMetadata(nil, []byte(c.in), true, false, nil)
		assert.Equal(t, c.dropped == "", err != nil, c.in)
		if err == nil {
			assert.Equal(t, c.dropped, string(out))
		}
	}
	out, err := AppendMetadata(nil, []byte(`{"generation":0}`), false, true, nil)
	assert.NoError(t, err)
	assert.Equal(t, `{"generation":1}`, string(out))
}

// TestDecodeErrors asserts that errors have the server's texts.
func TestDecodeErrors(t *testing.T) {
	for in, want := range map[string]string{
		`"x"`:                       `json: cannot unmarshal string into Go value of type v1.ObjectMeta`,
		`{"labels":{"a":5}}`:        `json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string`,
		`{"uid":5}`:                 `json: cannot unmarshal number into Go struct field ObjectMeta.uid of type types.UID`,
		`{"ownerReferences":[1]}`:   `json: cannot unmarshal number into Go struct field ObjectMeta.ownerReferences of type v1.OwnerReference`,
		`{"creationTimestamp":"x"}`: `parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"`,
	} {
		_, err := DecodeMetadata([]byte(in))
		assert.EqualError(t, err, want)
	}
}

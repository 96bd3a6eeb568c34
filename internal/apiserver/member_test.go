package apiserver

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestMember(t *testing.T) {
	for text, want := range map[string]string{
		`[]`: "", `{}`: "", ` {"a":1}`: "", `{"b":1}`: "1", `{ "b" : [1,{"b":2}] , "c":3}`: `[1,{"b":2}]`,
		`{"b":1,"\u0062":"\"x,"}`: `"\"x,"`, `{"a\"b":0,"b":{"}":[]}}`: `{"}":[]}`, `{"b":1,"b":-2e1 }`: "-2e1", `{"b":null,"\\":0}`: "null",
		"{\"\xff\":0,\"b\":true\n}": "true",
	} {
		assert.Equal(t, want, string(Member([]byte(text), "b")), text)
	}
}

package examine

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestFieldsRead(t *testing.T) {
	for _, tt := range []struct {
		expression string
		names      []string
		ok         bool
	}{
		{"true", nil, true},
		{"self.min <= self.max.value", []string{"min", "max"}, true},
		{"!has(self . a) || self.a.size() > 0", []string{"a", "a"}, true},
		{"oldSelf.a == myself.b", nil, true},
		// self as a whole
		{"self == oldSelf", nil, false},
		{"self", nil, false},
		{"self[0] > 1", nil, false},
		{"self['a'] > 1", nil, false},
		{"self.a > 0 && self.all(x, x.b)", nil, false},
		{"self.size () > 1", nil, false},
		// a field whose name is not an identifier
		{"self.a__dash__b > 0", nil, false},
	} {
		names, ok := fieldsRead(tt.expression)
		assert.Equal(t, tt.ok, ok, tt.expression)
		assert.Equal(t, tt.names, names, tt.expression)
	}
}

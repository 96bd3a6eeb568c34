package request

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/espalier-dev/espalier/errors"
)

// TestNoRoomForInvalidValues holds that an answer about invalid values is charged before it is
// written. Validating takes more room than that, but not at the same time.
func TestNoRoomForInvalidValues(t *testing.T) {
	err := errors.NewInvalidError(errors.List{{
		Kind: errors.InvalidValue, Invalid: &errors.ValueError{Kind: errors.SchemaInvalid, Value: strings.Repeat("1", 200)},
	}}, 0)
	for limit, code := range map[int64]int{800: statusUnavailable, 900: statusInvalid} {
		g := NewGate(Options{MaxHeldBytes: limit})
		x := &Exchange{gate: g, memory: reservation{from: g.budget}, result: []byte(`{"kind":"Foo"}`)}
		assert.Equal(t, code, x.invalidObject(err).Code)
	}
	for limit, isRefused := range map[int64]bool{600: true, 800: false} {
		g := NewGate(Options{MaxHeldBytes: limit})
		x := &Exchange{gate: g, memory: reservation{from: g.budget}}
		assert.Equal(t, isRefused, x.warnOfValues(err) != nil)
		assert.Equal(t, isRefused, len(x.texts) == 0)
	}
}

// TestCauseOfInternalError has a rule in CEL that could not be evaluated to its end.
func TestCauseOfInternalError(t *testing.T) {
	assert.Equal(t, Cause{"InternalError", "Internal error: too long", "<nil>"},
		causeOf(&errors.ValueError{Kind: errors.SchemaInternal, Msg: "too long"}))
}

package validation

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/schema"
)

// TestMaxErrorBytes has schemas with as many faults as are listed, and with one more.
func TestMaxErrorBytes(t *testing.T) {
	list := func(faults int) errors.SchemaErrors {
		s := &schema.Structural{Type: "object", Properties: map[string]*schema.Structural{}}
		for i := range faults {
			s.Properties[fmt.Sprintf("%07d", i)] = new(schema.Structural)
		}
		return Structural(s).(errors.SchemaErrors)
	}
	one := list(1)[0]
	// The last one may exceed the limit.
	most := (MaxErrorBytes-1)/len(one.Field+one.Value+one.Msg) + 1
	assert.Len(t, list(most), most)
	past := list(most + 3)
	require.Len(t, past, most+1)
	assert.EqualError(t, past[most], "openAPIV3Schema: Too many: 3: more faults are not listed: the text of those above is longer than 1 MiB")
}

// TestMaxDefaultSteps has a default whose parts are compared with many values each.
func TestMaxDefaultSteps(t *testing.T) {
	const enum = 1 << 12
	validate := func(elements int) error {
		return Structural(parseText(t, `{"type":"object","properties":{"l":{"type":"array","default":[`+strings.Repeat(fmt.Sprint(enum-1)+",", elements-1)+`0],
			"items":{"type":"integer","enum":[`+manyNumbers(enum)+`]}}}}`))
	}
	// Each part takes a step for itself and one for each value.
	assert.NoError(t, validate(MaxDefaultSteps/(enum+1)-1))
	assert.EqualError(t, validate(MaxDefaultSteps/(enum+1)+2), "openAPIV3Schema: Too many: 1048576: is how many steps there are for the validation of defaults: what is left of them is not validated")
}

// TestMaxDefaultStepsOfObjects has a default with many objects that lack many fields.
func TestMaxDefaultStepsOfObjects(t *testing.T) {
	const fields = 1 << 10
	validate := func(objects int) error {
		return Structural(parseText(t, `{"type":"object","properties":{"l":{"type":"array","default":[`+strings.Repeat(`{},`, objects-1)+`{}],
			"items":{"type":"object","properties":{`+manyMembers(`{"type":"string"}`, fields)+`}}}}}`))
	}
	assert.NoError(t, validate(MaxDefaultSteps/fields-2))
	assert.ErrorContains(t, validate(MaxDefaultSteps/fields+1), "is not validated")
}

// TestManyKeys has lists with many keys: what compiling them allocates is in proportion to them.
func TestManyKeys(t *testing.T) {
	allocated := func(n int) uint64 {
		s := parseText(t, `{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k0"],
			"items":{"type":"object","properties":{`+manyMembers(`{"type":"string"}`, n)+`}}}`)
		for i := range n - 1 {
			s.XListMapKeys = append(s.XListMapKeys, fmt.Sprint("k", i+1))
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := schema.Compile(s, Values(), schema.ResourceRoot(false))
		runtime.ReadMemStats(&after)
		require.NoError(t, err)
		return after.TotalAlloc - before.TotalAlloc
	}
	allocated(10)
	assert.Less(t, allocated(8000), 6*allocated(2000))
}

func manyNumbers(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, ",%d", i)
	}
	return b.String()[1:]
}

func manyMembers(value string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"k%d":%s`, i, value)
	}
	return b.String()[1:]
}

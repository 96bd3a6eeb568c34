package schemapath

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestPath(t *testing.T) {
	root := Root("spec.versions[0]")
	items := root.Property("a.b").Child("items")
	assert.Equal(t, "spec.versions[0]", root.String())
	assert.Equal(t, "spec.versions[0].properties[a.b].items", items.String())
	assert.Equal(t, "spec.versions[0].properties[a.b].items.allOf[1]", items.Child("allOf").Index(1).String())
	assert.Equal(t, "spec.versions[0][]", root.Key("").String())
	assert.Empty(t, (*Path)(nil).String())
	assert.Equal(t, "items", items.Name())
	assert.Empty(t, items.Index(0).Name())
}

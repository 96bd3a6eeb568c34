package fuzz

import (
	"math/rand/v2"

	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/espalier-dev/espalier/sample"
	"github.com/espalier-dev/espalier/schema"
)

// The type of the objects.
const testKind = "Trellis"

var testVersion = kschema.GroupVersion{Group: "fuzz.example.com", Version: "v1"}

// NewDocument returns the document of the seed, which mostly follows the schema.
func NewDocument(seed uint64, s *schema.Structural) []byte {
	r := rand.New(rand.NewPCG(seed, 2))
	if in(r, 80) {
		return []byte(one(r, noObjects...))
	}
	made := sample.New(s, testVersion.String(), testKind).Mutated(sample.Bytes(seed))
	return spoil(made, r)
}

// noObjects are texts without an object, or with more than one.
var noObjects = []string{
	"", " ", "null", "[]", "[{}]", "7", `"x"`, "true", "nul", "\ufeff{}", "{} {}", "{}]", "{}\x00",
}

func preserves(s *schema.Structural) bool {
	return s.XPreserveUnknownFields != nil && *s.XPreserveUnknownFields
}

// isReserved reports whether resources have the field implicitly.
func isReserved(name string) bool {
	return name == "apiVersion" || name == "kind" || name == "metadata"
}

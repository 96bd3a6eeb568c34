package integration

import (
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/registry/customresource"
)

// TestEspalierValidates runs after the tests that are not parallel.
func TestEspalierValidates(t *testing.T) {
	validated := customresource.EspalierValidated.Load()
	t.Logf("Espalier validated %d objects", validated)
	if validated == 0 {
		t.Error("the server has not validated with Espalier")
	}
}

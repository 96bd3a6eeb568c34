package apiserver

import (
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apiserver"
)

// TestEspalierDecodes runs after the tests that are not parallel.
func TestEspalierDecodes(t *testing.T) {
	requests, stored := apiserver.EspalierRequests.Load(), apiserver.EspalierStored.Load()
	t.Logf("Espalier decoded %d requests and %d stored objects", requests, stored)
	if requests == 0 || stored == 0 {
		t.Error("the server has not decoded with Espalier")
	}
}

package cel

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/espalier-dev/espalier/internal/corpus"
)

// TestRealObjects compares the errors in the examples of gateway-api and in the resources of the
// corpus, which have always the same order.
func TestRealObjects(t *testing.T) {
	byKind := map[string]*pair{}
	for _, p := range pairs(t) {
		byKind[p.name] = p
	}
	judge := func(name string, data []byte) (objects int, ruled bool) {
		for p, x := range objectsIn(t, byKind, name, data) {
			objects++
			if p.compare(t, x, nil) > 0 {
				ruled = true
				first := p.ours.Evaluate(p.request(x, nil))
				for range 100 {
					assert.Equal(t, first, p.ours.Evaluate(p.request(x, nil)), name)
				}
			}
			p.compare(t, x, x)
		}
		return objects, ruled
	}
	var ruled []string
	for name, data := range filesIn(t, filepath.Join(gatewayAPI(t), "hack/invalid-examples")) {
		if _, is := judge(name, data); is {
			ruled = append(ruled, name)
		}
	}
	assert.Subset(t, ruled, []string{ // which nothing else refuses
		"experimental/httproute/invalid-filter-externalauth-empty.yaml",
		"standard/gateway/hostname-tcp.yaml",
		"standard/gateway/hostname-udp.yaml",
		"standard/gateway/invalid-tls-mode.yaml",
		"standard/gateway/tlsconfig-tcp.yaml",
		"standard/httproute/httproute-portless-backend.yaml",
		"standard/httproute/httproute-portless-service.yaml",
		"standard/httproute/invalid-filter-duplicate.yaml",
		"standard/httproute/invalid-filter-empty.yaml",
		"standard/httproute/invalid-filter-wrong-field.yaml",
		"standard/httproute/invalid-path-alphanum-specialchars-mix.yaml",
		"standard/httproute/invalid-path-specialchars.yaml",
		"standard/httproute/invalid-request-redirect-with-backendref.yaml",
	})
	objects := 0
	for name, data := range filesIn(t, filepath.Join(gatewayAPI(t), "examples")) {
		n, is := judge(name, data)
		assert.False(t, is, name)
		objects += n
	}
	if corpus.IsThere(t) {
		for f := range corpus.Samples(t) {
			n, _ := judge(f.Name, f.Data)
			objects += n
		}
	}
	t.Log(objects, "objects")
	assert.Greater(t, objects, 50)
}

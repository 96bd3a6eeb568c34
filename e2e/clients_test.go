package e2e

import "testing"

// TestClients is what clients with projections and fake clients do, beside the same server.
func TestClients(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers")
	}
	config, storage, crd := serveReleases(t)
	t.Run("writes", func(t *testing.T) { testWrites(t, config) })
	t.Run("following", func(t *testing.T) { testFollowing(t, config, storage) })
	t.Run("fakes", func(t *testing.T) { testFakes(t, config, crd) })
}

package extproc_test

import (
	"os"
	"testing"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	filterv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_proc/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/router/v3"
	managerv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/upstreams/http/v3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/espalier-dev/espalier/yamlbridge"
)

// TestEnvoyConfig holds the example against Envoy's definitions, with what they say of values, and
// that it says what the documentation of this package asks for. No Envoy has run it.
func TestEnvoyConfig(t *testing.T) {
	text, err := os.ReadFile("../examples/envoy/envoy.yaml")
	require.NoError(t, err)
	js, err := yamlbridge.AppendJSON(nil, text)
	require.NoError(t, err)
	var config bootstrapv3.Bootstrap
	require.NoError(t, protojson.Unmarshal(js, &config))
	require.NoError(t, config.ValidateAll())

	var manager managerv3.HttpConnectionManager
	filters := config.GetStaticResources().GetListeners()[0].GetFilterChains()[0].GetFilters()
	require.NoError(t, filters[0].GetTypedConfig().UnmarshalTo(&manager))
	require.NoError(t, manager.ValidateAll())
	names := make([]string, 0, len(manager.GetHttpFilters()))
	for _, f := range manager.GetHttpFilters() {
		names = append(names, f.GetName())
	}
	assert.Equal(t, []string{"envoy.filters.http.ext_proc", "envoy.filters.http.router"}, names)
	var filter filterv3.ExternalProcessor
	require.NoError(t, manager.GetHttpFilters()[0].GetTypedConfig().UnmarshalTo(&filter))
	require.NoError(t, filter.ValidateAll())
	assert.False(t, filter.GetFailureModeAllow() || filter.GetDisableImmediateResponse() || filter.GetObservabilityMode())
	assert.Nil(t, filter.GetMutationRules())
	mode := filter.GetProcessingMode()
	assert.Equal(t, buffered, mode.GetRequestBodyMode())
	assert.Equal(t, filterv3.ProcessingMode_SEND, mode.GetRequestHeaderMode())
	assert.Equal(t, filterv3.ProcessingMode_SEND, mode.GetResponseHeaderMode())
	assert.Equal(t, filterv3.ProcessingMode_SEND, mode.GetRequestTrailerMode())
	clusters := map[string]bool{}
	for _, c := range config.GetStaticResources().GetClusters() {
		clusters[c.GetName()] = true
	}
	assert.True(t, clusters[filter.GetGrpcService().GetEnvoyGrpc().GetClusterName()])
}

package apiserver

import (
	"testing"

	"k8s.io/apiextensions-apiserver/test/integration/fixtures"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
)

// The benchmark sets a flag of the kube-apiserver's log.
func init() { klog.InitFlags(nil) }

// A testServer is an apiextensions-apiserver in the place of the kube-apiserver that these tests start.
type testServer struct {
	ClientConfig *rest.Config
	TearDownFn   func()
}

func startServer(t testing.TB) (*testServer, error) {
	tearDown, config, _, err := fixtures.StartDefaultServer(t)
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	return &testServer{config, tearDown}, nil
}

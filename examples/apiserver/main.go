// Command apiserver is a small API server made of k8s.io/apiserver, with Espalier's decoder:
// objects are pruned and defaulted by the schema in crd.yaml. Unknown and duplicate fields are
// warnings or errors, as the parameter fieldValidation says. Objects with values that the schema
// refuses are not created.
//
//	go run . &
//	url=https://127.0.0.1:8443/apis/garden.example.com/v1/namespaces/default/trellises
//	curl -k -H 'Content-Type: application/json' $url -d '{
//	  "apiVersion": "garden.example.com/v1", "kind": "Trellis", "metadata": {"name": "a"},
//	  "spec": {"plants": [{"name": "pear", "colour": "green"}]}}'
package main

import (
	"fmt"
	"net"
	"os"

	genericapiserver "k8s.io/apiserver/pkg/server"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run() error {
	listener, err := net.Listen("tcp", "127.0.0.1:8443")
	if err != nil {
		return err
	}
	certificates, err := os.MkdirTemp("", "apiserver")
	if err != nil {
		return err
	}
	defer os.RemoveAll(certificates)
	server, err := newServer(listener, certificates)
	if err != nil {
		return err
	}
	return server.PrepareRun().RunWithContext(genericapiserver.SetupSignalContext())
}

package kube

import "github.com/espalier-dev/espalier/yamlbridge"

// yamlToJSON reads YAML as the API server does.
func yamlToJSON(data []byte) ([]byte, error) {
	r := yamlbridge.Reader{AsServer: true}
	return r.AppendJSON(nil, data)
}

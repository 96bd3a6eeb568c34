package fuzz

import (
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/yamlbridge"
)

// A yamlMode is a way to read YAML.
type yamlMode uint8

const (
	hardened yamlMode = iota // the default
	asServer
	core
)

var yamlModeNames = [...]string{"hardened", "as the server", "core"}

func (m yamlMode) String() string { return yamlModeNames[m] }

// A yamlReading is the library's reading of a text.
type yamlReading struct {
	json                 []byte
	err                  error
	position, definition func(off int) errors.Position
	duplicates           []string // in the server's form
	trailing             bool     // the text goes on after the end of the reading
}

// read is the only function here that knows how the library reads YAML.
func (m yamlMode) read(src []byte) yamlReading {
	var r yamlbridge.Reader
	switch m {
	case core:
		r.Dialect = yamlbridge.Core
	case asServer:
		r.Dialect = yamlbridge.Server
	}
	json, err := r.AppendJSON(nil, src)
	reading := yamlReading{json: json, err: err, position: r.Position, definition: r.Definition, trailing: r.Trailing()}
	if m == asServer && err == nil {
		reading.duplicates = r.ServerDuplicates(json)
	}
	return reading
}

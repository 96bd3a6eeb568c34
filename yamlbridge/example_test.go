package yamlbridge_test

import (
	"bytes"
	"fmt"

	"github.com/espalier-dev/espalier/yamlbridge"
)

func ExampleAppendJSON() {
	src := []byte(`# a manifest
kind: Example
spec:
  enabled: yes
  mode: 0644
`)
	var m yamlbridge.Reader
	out, err := m.AppendJSON(nil, src)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(out))
	fmt.Println("mode is at", m.Position(bytes.Index(out, []byte(`"mode"`))))
	// Output:
	// {"kind":"Example","spec":{"enabled":true,"mode":420}}
	// mode is at 5:3
}

func ExampleDocuments() {
	stream := []byte("kind: A\n---\n# nothing here\n---\nkind: B\nvalue: .inf\n")
	for doc := range yamlbridge.Documents(stream) {
		m := yamlbridge.Reader{Origin: doc.Origin}
		out, err := m.AppendJSON(nil, doc.Bytes)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(string(out))
	}
	// Output:
	// {"kind":"A"}
	// 6:8: infinity and NaN are no JSON values in "value"
}

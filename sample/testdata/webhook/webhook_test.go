package webhook

import (
	"os"
	"reflect"
	"testing"

	"sigs.k8s.io/json"

	"github.com/espalier-dev/espalier/sample"
	"github.com/espalier-dev/espalier/schema"
)

func FuzzAdmit(f *testing.F) {
	manifest, err := os.ReadFile("crd.yaml")
	if err != nil {
		f.Fatal(err)
	}
	crds, err := schema.ParseCRD(manifest)
	if err != nil {
		f.Fatal(err)
	}
	trellises, err := sample.Of(crds[0], "v1")
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(nil)) // the smallest object
	f.Fuzz(func(t *testing.T, data []byte) {
		js, err := trellises.Valid(data)
		if err != nil {
			t.Fatal(err)
		}
		var once, twice map[string]any
		for _, object := range []*map[string]any{&once, &twice} {
			if err := json.UnmarshalCaseSensitivePreserveInts(js, object); err != nil {
				t.Fatal(err)
			}
		}
		t.Logf("%s", js)
		Admit(once)
		Admit(twice)
		Admit(twice)
		if !reflect.DeepEqual(once, twice) {
			t.Error("it makes a difference to be called again")
		}
	})
}

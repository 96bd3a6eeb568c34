package fuzz

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestYAMLGenerator compares the generator's claims about its documents with the server: if there
// is only one way to read a document, it must be that of both.
func TestYAMLGenerator(t *testing.T) {
	const documents = 10_000
	traits := make(map[YAMLTraits]int)
	same, faults := 0, 0
	for seed := range uint64(documents) {
		d := NewYAML(seed)
		for bit := range 16 {
			traits[d.Traits&(1<<bit)]++
		}
		answer, err := ReadYAML(d.Source)
		refused := d.Traits&(Version12|JSONEscapes) != 0 && d.Traits&EmptyFirst == 0
		switch {
		case refused:
			assert.Error(t, err, "seed %d\n%s", seed, d.Source)
		case err != nil:
			faults++
			t.Errorf("seed %d: %v\n%q\n%s", seed, err, d.Source, d.Source)
		case d.Traits&(BinaryTag|EmptyFirst|Merges|SameName) == 0:
			if want := d.Root.Value(false); !reflect.DeepEqual(want, answer.Value) {
				faults++
				t.Errorf("seed %d\nthey: %s\nwe:   %s\n%q", seed, marshal(answer.Value), marshal(want), d.Source)
			}
			same++
		}
		if faults > 5 {
			t.Fatal("and so on")
		}
	}
	assert.Greater(t, same, documents/2)
	for bit := range 10 {
		assert.Greater(t, traits[1<<bit], documents/2000, "trait %d", bit)
	}
	t.Log(traits, same)
}

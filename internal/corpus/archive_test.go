package corpus

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestParseArchive(t *testing.T) {
	for text, want := range map[string]Archive{
		"":                   {},
		"comment":            {Comment: []byte("comment\n")},
		"c\n-- a --\n1\n2":   {Comment: []byte("c\n"), Sections: []Section{{"a", []byte("1\n2\n")}}},
		"-- a b --\r\n1\r\n": {Sections: []Section{{"a b", []byte("1\r\n")}}},
		"-- a --\n-- b --":   {Sections: []Section{{"a", nil}, {"b", nil}}},
		"-- a --\n--  --\n-- --\n --b --\n-- c -- \n-- d--\n": {
			Sections: []Section{{"a", []byte("--  --\n-- --\n --b --\n-- c -- \n-- d--\n")}}},
	} {
		got := ParseArchive([]byte(text))
		assert.Equal(t, string(want.Comment), string(got.Comment), "%q", text)
		if assert.Len(t, got.Sections, len(want.Sections), "%q", text) {
			for i, f := range want.Sections {
				assert.Equal(t, f.Name, got.Sections[i].Name, "%q", text)
				assert.Equal(t, string(f.Data), string(got.Sections[i].Data), "%q", text)
			}
		}
	}
}

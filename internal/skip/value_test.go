package skip

import (
	"bytes"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/espalier-dev/espalier/internal/jsonv2"
)

// TestValue compares what Value passes with what jsontext reads, at each byte of texts of some shapes
// and sizes: at many, a value is cut short, or something else begins.
func TestValue(t *testing.T) {
	texts := []string{
		`{"a": [1, -2.5e3, "x\u0041\"", true], "a": {"b": null, "c": {}}, "d": []}`,
		`[[[[1]]], "` + strings.Repeat("é", 100) + `", 01, tru, "\x"]`,
		strings.Repeat(`{"name":[`, 100) + "1" + strings.Repeat("]}", 100),
		"[" + strings.Repeat(`{"name":"value","list":[1,2,3]}, `, 40) + "0]",
	}
	var passed, refused int
	for _, text := range texts {
		b := []byte(text)
		for i := range b {
			if b[i] <= ' ' {
				continue // Value begins at a value
			}
			d := jsonv2.NewDecoder(bytes.NewReader(b[i:]), jsonv2.AllowDuplicateNames(true))
			want, err := d.ReadValue()
			end, valid := Value(b, i)
			assert.Equal(t, err == nil, valid, "%s at %d", text, i)
			if valid {
				assert.Equal(t, i+len(want), end, "%s at %d", text, i)
				passed++
			} else {
				refused++
			}
		}
		_, valid := Value(b, len(b))
		assert.False(t, valid)
	}
	for text, want := range map[string]bool{`1e308`: true, `1e309`: false, `"\ud83d\ude00"`: true, `"\ud83d"`: false, "\"\xff\"": false, " \n[ ]": true, ` `: false} {
		end, valid := Value([]byte(text), 0)
		assert.Equal(t, want, valid, text)
		if valid {
			assert.Equal(t, len(text), end, text)
		}
	}
	assert.Greater(t, passed, 500)
	assert.Greater(t, refused, 500)
}

// TestValueConcurrently lets goroutines share what Value keeps.
func TestValueConcurrently(t *testing.T) {
	b := []byte("[" + strings.Repeat(`{"name":"value","list":[1,2,3]}, `, 40) + "0]")
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 100 {
				end, valid := Value(b, 0)
				assert.True(t, valid)
				assert.Equal(t, len(b), end)
			}
		})
	}
	group.Wait()
}

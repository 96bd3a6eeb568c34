//go:build poison

package decoder

import "github.com/espalier-dev/espalier/internal/memory"

// poison overwrites what the call before has left, for tests to see whether anybody
// reads it.
func (d *Decoder) poison() {
	memory.Fill(d.result, 0xdb)
	memory.Fill(d.output, 0xdb)
	memory.Fill(d.scratch, 0xdb)
	d.walker.Poison()
	d.values.Poison()
}

// poisonTexts does so with texts that the walk does not read any more.
func (d *Decoder) poisonTexts() {
	memory.Fill(d.stream, 0xdb)
	memory.Fill(d.json, 0xdb)
	memory.Fill(d.repaired.Text, 0xdb)
}

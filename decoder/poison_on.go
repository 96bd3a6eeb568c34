//go:build poison

package decoder

import "github.com/espalier-dev/espalier/internal/memory"

// poison overwrites what the last call has left in buffers. Tests fail if anything reads it.
func (d *Decoder) poison() {
	memory.Fill(d.result, 0xdb)
	memory.Fill(d.output, 0xdb)
	memory.Fill(d.scratch, 0xdb)
	d.walker.Poison()
	d.values.Poison()
}

// poisonTexts overwrites the texts that the walk has read.
func (d *Decoder) poisonTexts() {
	memory.Fill(d.stream, 0xdb)
	memory.Fill(d.json, 0xdb)
	memory.Fill(d.repaired.Text, 0xdb)
}

//go:build !poison

package decoder

func (d *Decoder) poison()      {}
func (d *Decoder) poisonTexts() {}

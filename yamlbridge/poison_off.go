//go:build !poison

package yamlbridge

func (r *Reader) poison() {}

package main

import (
	"bytes"
	"runtime"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/schema"
)

// listJob decodes the items of a List one by one, on one core and on all.
func listJob() *Job {
	return &Job{Name: "list", Title: "Items of a List to JSON, each by its own schema: on all cores, and on one", Contenders: []Contender{
		ofItems("Espalier Sequence.InParallel, Ignore", func(s *decoder.Sequence, dst []byte) ([]byte, error) {
			for o, err := range s.InParallel(runtime.GOMAXPROCS(0)) {
				if err == nil {
					err = o.Err
				}
				if err != nil {
					return dst, err
				}
				dst = append(dst, o.JSON...)
			}
			return dst, nil
		}),
		ofItems(oneCore, func(s *decoder.Sequence, dst []byte) (_ []byte, err error) {
			for err := range s.All() {
				if err == nil {
					dst, err = s.AppendJSON(dst)
				}
				if err != nil {
					return dst, err
				}
			}
			return dst, nil
		}),
	}}
}

const oneCore = "Espalier Sequence.AppendJSON, Ignore"

// ofItems is a contender that appends the results of all items to a buffer.
func ofItems(name string, do func(s *decoder.Sequence, dst []byte) ([]byte, error)) Contender {
	item := MustSchema(resourceSchema(specSchema)).Program
	lookup := func(string, string) (*schema.Program, error) { return item, nil }
	return Contender{name, Partial, "", func(d *Document) Run {
		return toBytes(d, func(dst []byte) ([]byte, error) {
			return do(decoder.NewListSequence(bytes.NewReader(d.Src), lookup, decoder.Ignore), dst)
		})
	}}
}

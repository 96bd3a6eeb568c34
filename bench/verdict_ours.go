package main

import (
	"github.com/espalier-dev/espalier/decoder"
)

// verdictDecoder returns the decoder of a schema that validates values or accepts them.
func verdictDecoder(s *Schema, v decoder.FieldValidation, values decoder.ValueValidation) *decoder.Decoder {
	type key struct {
		decoder.FieldValidation
		decoder.ValueValidation
	}
	return made(s, key{v, values}, func() *decoder.Decoder {
		return decoder.New(s.Definition.Program, v, values, allFindings)
	})
}

func oursVerdict(name string, v decoder.FieldValidation, values decoder.ValueValidation) Contender {
	output, less := Valid, ""
	if values == decoder.AcceptValues {
		output, less = Partial, acceptsValues
	}
	return Contender{name, output, less, func(d *Document) Run {
		dec := verdictDecoder(d.Schema, v, values)
		return toBytes(d, func(dst []byte) ([]byte, error) { return dec.AppendJSON(dst, d.Src) })
	}}
}

const acceptsValues = "accepts all values"

// oursWithoutValues decodes by a program that was compiled without validation.
func oursWithoutValues(name string, v decoder.FieldValidation) Contender {
	return Contender{name, Partial, acceptsValues, func(d *Document) Run {
		dec := decoderOf(d.Schema, v)
		return toBytes(d, func(dst []byte) ([]byte, error) { return dec.AppendJSON(dst, d.Src) })
	}}
}

func oursVerdictYAML() Contender {
	return Contender{"Espalier AppendYAML, Strict, ValidateCreate", Valid, "", func(d *Document) Run {
		dec := verdictDecoder(d.Schema, decoder.Strict, decoder.ValidateCreate)
		return toBytes(d, func(dst []byte) ([]byte, error) { return dec.AppendYAML(dst, d.YAML) })
	}}
}

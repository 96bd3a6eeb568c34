package main

import (
	"github.com/espalier-dev/espalier/cel"
	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/schema/validation"
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

// withRules is shared by all definitions, as in a catalog: they have rules in common.
var withRules = validation.Values(cel.Rules())

// oursWithRules evaluates the rules in CEL, too.
func oursWithRules() Contender {
	return Contender{"Espalier AppendJSON, Strict, ValidateCreate, with CEL", Valid, "", func(d *Document) Run {
		dec := made(d.Schema, "rules", func() *decoder.Decoder {
			program, err := d.Definition.CRD.Program(d.Definition.Version, withRules)
			if err != nil {
				panic(err) // it compiled without
			}
			return decoder.New(program, decoder.Strict, decoder.ValidateCreate, allFindings)
		})
		return toBytes(d, func(dst []byte) ([]byte, error) { return dec.AppendJSON(dst, d.Src) })
	}}
}

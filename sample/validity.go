package sample

import (
	"errors"

	"github.com/espalier-dev/espalier/internal/validate"
	"github.com/espalier-dev/espalier/schema"
)

// maxSteps bounds the validation of one value. A value that takes more counts as invalid.
const maxSteps = 1 << 22

// validate returns the first reason why the API server would refuse the object, or nil. Rules in
// CEL do not count.
func (m *Maker) validate(v *value) error {
	validator := m.validators.Get().(*validate.Validator)
	defer m.validators.Put(validator)
	x, ok := v.decoded().(map[string]any)
	if !ok {
		return errors.New("it is no object")
	}
	insertDefaults(x, m.root)
	steps := maxSteps
	errs := validator.Object(m.root, x, &steps)
	switch {
	case len(errs) > 0:
		return &errs[0]
	case steps < 0:
		return errors.New("it takes too long to validate")
	}
	return nil
}

func (m *Maker) isValid(v *value) bool { return m.validate(v) == nil }

// fits reports whether a value satisfies the schemas, of which the first is its own.
func (b *builder) fits(given []*schema.Structural, v *value) (fits bool) {
	validator := b.validators.Get().(*validate.Validator)
	defer b.validators.Put(validator)
	x := v.decoded()
	insertDefaults(x, given[0])
	steps := maxSteps
	fits = true
	for _, s := range given {
		if len(validator.Value(s, x, &steps)) > 0 || steps < 0 {
			fits = false
			break
		}
	}
	b.work -= maxSteps - steps
	return fits
}

// insertDefaults inserts defaults into a decoded value as the API server does (defaulting.Default).
func insertDefaults(x any, s *schema.Structural) {
	if s == nil {
		return
	}
	switch x := x.(type) {
	case map[string]any:
		for name, p := range s.Properties {
			if p == nil || len(p.Default) == 0 {
				continue
			}
			if v, ok := x[name]; !ok || v == nil && !p.Nullable {
				x[name], _ = validate.Decode(p.Default)
			}
		}
		for name, v := range x {
			if p, ok := s.Properties[name]; ok {
				insertDefaults(v, p)
			} else if s.AdditionalProperties != nil {
				insertDefaults(v, s.AdditionalProperties.Schema)
			}
		}
	case []any:
		for _, v := range x {
			if s.Items != nil {
				insertDefaults(v, s.Items.Schema)
			}
		}
	}
}

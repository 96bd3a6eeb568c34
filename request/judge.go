package request

import (
	stderrors "errors"
	"slices"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/yamlbridge"
)

// run decodes the body.
func (x *Exchange) run() *StatusError {
	validation := x.validation
	if x.form == applyPatch && validation == decoder.Ignore {
		validation = decoder.Warn // unknown fields are refused whatever was asked for
	}
	pool := x.resource.pool(validation, x.form.isPatch())
	size := len(x.body)
	d := x.gate.held.begin(pool, &x.work, size)
	defer x.gate.held.end(pool, d, &x.work, size)
	if d == nil {
		return overloaded()
	}
	if x.result = x.gate.held.buffer(len(x.body)+len(x.body)/8+256, &x.loan); x.result == nil {
		return overloaded()
	}
	before := cap(x.result)
	var err error
	if x.form.isYAML() {
		x.result, err = d.AppendYAML(x.result, x.body)
	} else {
		x.result, err = d.AppendJSON(x.result, x.body)
	}
	x.work.bytes -= cap(x.result) - before // what the result has grown by is kept
	x.loan.bytes += cap(x.result) - before

	_, isStrict := stderrors.AsType[*errors.StrictError](err)
	if err != nil && !isStrict {
		x.findings = slices.Clone(d.Findings())
		return x.explain(err)
	}
	if x.gate.opts.Action == Report && x.form.isYAML() {
		if err := x.readPlainly(); err != nil {
			return x.explain(err)
		}
	}
	x.findings, x.omitted = d.Findings(), d.Omitted()
	x.dropRemovals()
	x.findings = slices.Clone(x.findings)
	if refused := x.checkType(); refused != nil {
		return refused
	}
	duplicates := d.YAMLDuplicates()
	return x.judge(duplicates[:min(len(duplicates), maxLines)])
}

// readPlainly returns an error for a body in YAML that only a decoder made with decoder.ServerRequests reads: who gets it as it
// was sent may read another document behind the first, or members in what was a comment here. Its aliases were found to
// be within the limit of the resource.
func (x *Exchange) readPlainly() error {
	defer func(before int) { x.loan.repay(x.loan.bytes - before) }(x.loan.bytes)
	plain := yamlbridge.Reader{Budget: &x.loan}
	_, err := plain.AppendJSON(nil, x.body)
	return err
}

// judge makes warnings or an answer of what was found.
func (x *Exchange) judge(yamlDuplicates []string) *StatusError {
	if len(x.findings) == 0 && len(yamlDuplicates) == 0 && x.omitted == 0 {
		return nil
	}
	isUnknown := x.form == applyPatch && x.findings.Count(errors.UnknownField) > 0
	if x.validation == decoder.Strict || isUnknown {
		return x.strict(yamlDuplicates)
	}
	if x.validation == decoder.Warn {
		x.texts = x.entries(yamlDuplicates)
	}
	if !x.loan.charge(x.toldBytes()) {
		return overloaded()
	}
	return nil
}

// toldBytes is what findings and warnings hold, roughly: the texts of paths are in both, and in headers.
func (x *Exchange) toldBytes() int {
	const perFinding = 256
	n := perFinding * len(x.findings)
	for _, text := range x.texts {
		n += 3 * len(text)
	}
	return n
}

// entries are the server's entries for what was found: for YAML read as by the server, its
// lines about names that stand twice stand for the findings about these.
func (x *Exchange) entries(yamlDuplicates []string) []string {
	texts := slices.Clone(yamlDuplicates)
	for i := range x.findings {
		if len(yamlDuplicates) > 0 && x.findings[i].Kind == errors.DuplicateField {
			continue
		}
		texts = append(texts, x.findings[i].Error())
	}
	return texts
}

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
		validation = decoder.Warn // an apply patch with unknown fields is refused in any case
	}
	pool := x.resource.pool(validation, x.use())
	size := len(x.body)
	d := x.gate.budget.borrowInSlot(pool, &x.decoderMemory, size)
	defer x.gate.budget.giveBackInSlot(pool, d, &x.decoderMemory, size)
	if d == nil {
		return overloaded()
	}
	if x.result = x.gate.budget.buffer(len(x.body)+len(x.body)/8+256, &x.memory); x.result == nil {
		return overloaded()
	}
	before := cap(x.result)
	var err error
	if x.form.isYAML() {
		x.result, err = d.AppendYAML(x.result, x.body)
	} else {
		x.result, err = d.AppendJSON(x.result, x.body)
	}
	// The exchange keeps the bytes by which the result has grown.
	x.decoderMemory.bytes -= cap(x.result) - before
	x.memory.bytes += cap(x.result) - before

	_, isStrict := stderrors.AsType[*errors.StrictError](err)
	invalid, isInvalid := stderrors.AsType[*errors.InvalidError](err)
	if err != nil && !isStrict && !isInvalid {
		x.findings = slices.Clone(d.Findings())
		return x.decodeError(err)
	}
	if x.gate.opts.Action == Report && x.form.isYAML() {
		if err := x.readPlainly(); err != nil {
			return x.decodeError(err)
		}
	}
	x.findings, x.omitted = d.Findings(), d.Omitted()
	x.dropRemovals()
	x.findings = slices.Clone(x.findings)
	// An invalid object of another kind is refused for all that is invalid.
	refused := x.checkType()
	if refused != nil && (refused.Code != statusInvalid || !isOfAnotherKind(invalid)) {
		return refused
	}
	return x.judge(d, invalid, refused != nil)
}

// readPlainly returns an error for a body in YAML that only a decoder with decoder.ServerRequests
// reads. The body is passed on as it was sent, and its recipient may read another document after
// the first, or members in what was a comment here. The aliases of the body are within the limit of
// the resource already.
func (x *Exchange) readPlainly() error {
	defer func(before int) { x.memory.release(x.memory.bytes - before) }(x.memory.bytes)
	plain := yamlbridge.Reader{Budget: &x.memory}
	_, err := plain.AppendJSON(nil, x.body)
	return err
}

// judge turns findings into warnings or an answer. invalid is the error for values, or nil. isOther
// says whether the object is refused in any case because it is of another kind.
func (x *Exchange) judge(d *decoder.Decoder, invalid *errors.InvalidError, isOther bool) *StatusError {
	if refused := x.judgeFields(d, invalid == nil); refused != nil {
		return refused
	}
	if x.use() == created {
		if refused := x.warnOfCreation(invalid == nil); refused != nil {
			return refused
		}
	}
	switch {
	case invalid == nil:
		return nil
	case x.gate.opts.Action == Report && !isOther:
		return x.warnOfValues(invalid)
	}
	return x.invalidObject(invalid)
}

// judgeFields turns findings that are not about values into warnings or an answer. mayRefuse says
// whether there may be findings for which an object is refused under Strict.
func (x *Exchange) judgeFields(d *decoder.Decoder, mayRefuse bool) *StatusError {
	lines := d.YAMLDuplicates()
	lines = lines[:min(len(lines), maxLines)]
	if len(x.findings) == 0 && x.omitted == 0 {
		return nil
	}
	isUnknown := x.form == applyPatch && x.findings.Count(errors.UnknownField) > 0
	if x.validation == decoder.Strict && mayRefuse || isUnknown {
		texts := x.listed(d)
		if len(lines) > 0 || len(texts) > 0 || x.omitted > 0 {
			return x.strict(lines, texts)
		}
	}
	if x.validation == decoder.Warn {
		x.texts = slices.Concat(lines, x.listed(d))
	}
	if !x.memory.charge(x.toldBytes()) {
		return overloaded()
	}
	return nil
}

// toldBytes returns roughly how much memory findings and warnings hold. The texts of paths are in
// both, and in headers.
func (x *Exchange) toldBytes() int {
	const perFinding = 256
	n := perFinding * len(x.findings)
	for _, text := range x.texts {
		n += 3 * len(text)
	}
	return n
}

// listed returns the texts of the findings that the server lists, besides the lines about repeated
// names in YAML.
func (x *Exchange) listed(d *decoder.Decoder) (texts []string) {
	for i := range x.findings {
		if f := &x.findings[i]; f.Kind != errors.InvalidValue && d.ListedByServer(f) {
			texts = append(texts, f.Error())
		}
	}
	return texts
}

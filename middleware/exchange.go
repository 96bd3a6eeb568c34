package middleware

import (
	stderrors "errors"
	"net/http"
	"slices"
	"time"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/yamlbridge"
)

// An exchange is one request on its way through the middleware.
type exchange struct {
	h    *handler
	r    *http.Request
	loan loan // for the body, the result and what is said about them
	work loan // for the decoder
	// trailers are those that were announced: reading the body adds others.
	trailers []string

	prepared   bool
	refused    *StatusError // by prepare
	form       form
	gzip       bool
	validation decoder.FieldValidation
	body       []byte
	received   int64
	reading    time.Duration

	resource *Resource
	result   []byte
	decoding time.Duration
	findings errors.List
	omitted  int
	warnings []string
	sent     int64 // bytes that were passed on
	passed   *replay
	streamed *streamBody
}

var errNoProgram = stderrors.New("middleware: the Finder has returned a Resource without a program")

// decode returns the request to pass on.
func (e *exchange) decode(w http.ResponseWriter) (*http.Request, *StatusError) {
	var err error
	if e.resource, err = e.h.find(e.r, e.peek); err != nil {
		return nil, e.unfound(err)
	}
	if e.resource == nil {
		if !e.prepared {
			return e.r, nil
		}
		if e.refused != nil {
			return nil, e.refused
		}
		return e.request(e.body, e.gzip), nil
	}
	if e.resource.Program == nil {
		return nil, e.unfound(errNoProgram)
	}
	if refused := e.check(); refused != nil {
		return nil, refused
	}
	if e.form.isPatch() && (e.form == otherPatch || e.resource.Patch == nil) {
		return nil, unsupported(e.r.Method)
	}
	if e.h.opts.Stream && !e.prepared && e.form == jsonObject && e.h.opts.Action == Rewrite {
		return e.stream(w)
	}
	if refused := e.prepare(); refused != nil {
		return nil, refused
	}
	start := time.Now()
	defer func() { e.decoding += time.Since(start) }()
	if refused := e.run(); refused != nil {
		return nil, refused
	}
	if e.h.opts.Action == Report {
		e.free(&e.result)
		out := e.request(e.body, e.gzip)
		out.Header.Set("Content-Type", e.form.readAs())
		return out, nil
	}
	e.free(&e.body)
	out := e.request(e.result, true)
	out.Header.Set("Content-Type", e.form.passedOnAs())
	return out, nil
}

// passPatch returns the request as it is, unless it is refused by more than its body.
func (e *exchange) passPatch() (*http.Request, *StatusError) {
	if _, err := e.h.find(e.r, noPeek); err != nil && !stderrors.Is(err, errUnseen) {
		return nil, e.unfound(err)
	}
	return e.r, nil
}

// prepare makes all checks that need no schema, and reads the body.
func (e *exchange) prepare() *StatusError {
	if e.prepared {
		return e.refused
	}
	e.prepared = true
	start := time.Now()
	if e.refused = e.check(); e.refused == nil {
		e.refused = e.read()
	}
	e.reading = time.Since(start)
	return e.refused
}

// check makes the checks that need no body, in the order of the API server.
func (e *exchange) check() (refused *StatusError) {
	if e.form, refused = formOf(e.r); refused != nil {
		return refused
	}
	if e.h.opts.Action == Report && !isInUTF8(e.r) {
		return unsupported(e.r.Method)
	}
	if e.gzip, refused = isGzip(e.r, e.h.opts.Gzip); refused != nil {
		return refused
	}
	if len(e.r.Header["Content-Range"]) > 0 { // RFC 9110 section 14.5
		return badRequest("the header Content-Range is refused: a body is a whole object or patch")
	}
	if e.r.ContentLength > e.h.opts.MaxBytes {
		return tooLarge(e.h.opts.MaxBytes)
	}
	e.validation, refused = validationOf(e.r)
	return refused
}

// peek is the [Peek] of the request.
func (e *exchange) peek() (apiVersion, kind string, err error) {
	if refused := e.prepare(); refused != nil {
		return "", "", refused
	}
	defer e.h.held.turn(len(e.body))()
	defer func(before int) { e.loan.repay(e.loan.bytes - before) }(e.loan.bytes)
	text, err := e.json()
	if err != nil { // whether what only the server reads is read, the resource says
		var serverErr error
		if text, serverErr = e.bridge(yamlbridge.Server); serverErr != nil {
			return "", "", e.explain(err)
		}
	}
	if apiVersion, kind, err = decoder.PeekType(text, decoder.WithBudget(&e.loan)); err != nil {
		return "", "", e.explain(err)
	}
	return apiVersion, kind, nil
}

// unfound is the answer where the Finder has failed.
func (e *exchange) unfound(err error) *StatusError {
	var refused *StatusError
	var unknown *schema.NotFoundError
	switch {
	case stderrors.As(err, &refused):
		return refused
	case stderrors.As(err, &unknown):
		refused = badRequest(upTo(maxReason, unknown.Error()))
	default:
		refused = &StatusError{Code: http.StatusInternalServerError, Reason: "InternalError",
			Message: "Internal error occurred: there is no way to decode the body of the request"}
	}
	refused.Err = err
	return refused
}

// run decodes the body.
func (e *exchange) run() *StatusError {
	validation := e.validation
	if e.form == applyPatch && validation == decoder.Ignore {
		validation = decoder.Warn // unknown fields are refused whatever was asked for
	}
	pool := e.resource.pool(validation, e.form.isPatch())
	size := len(e.body)
	d := e.h.held.begin(pool, &e.work, size)
	defer e.h.held.end(pool, d, &e.work, size)
	if d == nil {
		return overloaded()
	}
	if e.result = e.h.held.buffer(len(e.body)+len(e.body)/8+256, &e.loan); e.result == nil {
		return overloaded()
	}
	before := cap(e.result)
	var err error
	if e.form.isYAML() {
		e.result, err = d.AppendYAML(e.result, e.body)
	} else {
		e.result, err = d.AppendJSON(e.result, e.body)
	}
	e.work.bytes -= cap(e.result) - before // what the result has grown by is kept
	e.loan.bytes += cap(e.result) - before

	_, isStrict := stderrors.AsType[*errors.StrictError](err)
	if err != nil && !isStrict {
		e.findings = slices.Clone(d.Findings())
		return e.explain(err)
	}
	if e.h.opts.Action == Report && e.form.isYAML() {
		if err := e.readPlainly(); err != nil {
			return e.explain(err)
		}
	}
	e.findings, e.omitted = d.Findings(), d.Omitted()
	e.dropRemovals()
	e.findings = slices.Clone(e.findings)
	if refused := e.checkType(); refused != nil {
		return refused
	}
	duplicates := d.YAMLDuplicates()
	return e.judge(duplicates[:min(len(duplicates), maxLines)])
}

// readPlainly returns an error for a body in YAML that only a decoder made with decoder.ServerRequests reads: who gets it as it
// was sent may read another document behind the first, or members in what was a comment here. Its aliases were found to
// be within the limit of the resource.
func (e *exchange) readPlainly() error {
	defer func(before int) { e.loan.repay(e.loan.bytes - before) }(e.loan.bytes)
	plain := yamlbridge.Reader{Budget: &e.loan}
	_, err := plain.AppendJSON(nil, e.body)
	return err
}

// judge makes warnings or an answer of what was found.
func (e *exchange) judge(yamlDuplicates []string) *StatusError {
	if len(e.findings) == 0 && len(yamlDuplicates) == 0 && e.omitted == 0 {
		return nil
	}
	isUnknown := e.form == applyPatch && e.findings.Count(errors.UnknownField) > 0
	if e.validation == decoder.Strict || isUnknown {
		return e.strict(yamlDuplicates)
	}
	if e.validation == decoder.Warn {
		e.warnings = e.texts(yamlDuplicates)
	}
	if !e.loan.charge(e.toldBytes()) {
		return overloaded()
	}
	return nil
}

// toldBytes is what findings and warnings hold, roughly: the texts of paths are in both, and in headers.
func (e *exchange) toldBytes() int {
	const perFinding = 256
	n := perFinding * len(e.findings)
	for _, text := range e.warnings {
		n += 3 * len(text)
	}
	return n
}

// texts are the server's entries for what was found: for YAML read as by the server, its
// lines about names that stand twice stand for the findings about these.
func (e *exchange) texts(yamlDuplicates []string) []string {
	texts := slices.Clone(yamlDuplicates)
	for i := range e.findings {
		if len(yamlDuplicates) > 0 && e.findings[i].Kind == errors.DuplicateField {
			continue
		}
		texts = append(texts, e.findings[i].Error())
	}
	return texts
}

func (e *exchange) observe(refused *StatusError) {
	if e.h.opts.Observer == nil {
		return
	}
	o := Observation{
		Resource: e.resource, Validation: e.validation, Refused: refused,
		Findings: e.findings, Omitted: e.omitted,
		BytesIn: e.received, BytesOut: e.sent, Reading: e.reading, Decoding: e.decoding,
	}
	e.h.opts.Observer.Observe(e.r, o)
}

// free gives back a buffer of the exchange.
func (e *exchange) free(b *[]byte) {
	e.h.held.free(*b, &e.loan)
	*b = nil
}

// release ends the exchange: what was passed on cannot be read any more.
func (e *exchange) release() {
	if e.passed != nil {
		e.passed.Close()
	}
	if e.streamed != nil {
		e.streamed.Close()
	}
	e.free(&e.body)
	e.free(&e.result)
	e.loan.repay(e.loan.bytes)
	e.work.repay(e.work.bytes)
}

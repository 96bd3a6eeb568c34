package request

import (
	stderrors "errors"
	"time"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/yamlbridge"
)

// An Exchange is one request on its way through a [Gate]. The memory that it
// holds is charged to the budget of the gate until Close. One goroutine may use
// it at a time; only its [Stream] can be shared.
type Exchange struct {
	gate          *Gate
	r             Request
	memory        reservation // for the body, the result, findings, warnings and the answer
	decoderMemory reservation

	isFound    bool // Find was called
	isFinding  bool // Find has not returned yet
	isTaken    bool // Decode, Stream or Close was called
	isRead     bool // the body was read as far as it can be
	isBegun    bool // the body was read up to its type, or further
	found      typeScanner
	refused    *StatusError
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
	texts    []string // of warnings
	sent     int64    // bytes that are passed on
	streamed *Stream
}

var (
	errNoProgram = stderrors.New("request: the Finder has returned no Resource, or one without a program")
	errUnseen    = stderrors.New("request: what this request is for does not depend on its body")
)

// Begin returns an Exchange for one request. Its Close must be called. Begin
// panics if the URL of the request is nil.
//
// Judge does everything in one call. Callers that need the resource before the
// body has arrived call Find, and then Decode or Stream.
func (g *Gate) Begin(r Request) *Exchange {
	if r.URL == nil {
		panic("request: Begin: the URL of the Request is nil")
	}
	if r.Body == nil {
		r.Body = noBody{}
	}
	return &Exchange{
		gate: g, r: r,
		memory: reservation{from: g.budget}, decoderMemory: reservation{from: g.budget},
	}
}

// Judge calls Find and Decode. It returns what to pass on. If the request is
// refused, it returns the reason and an empty result.
func (x *Exchange) Judge(find Finder) (Result, *StatusError) {
	_, _ = x.Find(find) // Decode returns the refusal of Find
	return x.Decode()
}

// Find finds the resource that the request is about, and makes all checks that
// need no body, in the order of a kube-apiserver. The resource is nil if the
// body is not to be decoded. The request then passes untouched or, if the
// finder has read the body, with the body that Decode returns. Find panics if
// it was called before, or after Close.
func (x *Exchange) Find(find Finder) (*Resource, *StatusError) {
	if x.isFound {
		panic("request: Find is called once")
	}
	x.isFound, x.isFinding = true, true
	refused := x.find(find)
	x.isFinding = false
	if refused != nil {
		x.refused = refused
	}
	if x.refused != nil { // by peek, if the finder has ignored its error
		return nil, x.refused
	}
	return x.resource, nil
}

func (x *Exchange) find(find Finder) *StatusError {
	isWrite, refused := JudgeMethod(x.r.Method)
	switch {
	case refused != nil || !isWrite:
		return refused
	case x.r.Method == methodPatch && x.gate.opts.Patches == PassPatches:
		return x.passPatch(find)
	}
	var err error
	if x.resource, err = find(&x.r, x.peek); err != nil {
		return x.unfound(err)
	}
	switch {
	case x.resource == Pass:
		x.resource = nil
		return nil
	case x.resource == nil || x.resource.Program == nil:
		x.resource = nil
		return x.unfound(errNoProgram)
	}
	if refused = x.check(); refused != nil {
		return refused
	}
	if x.form.isPatch() && (x.form == otherPatch || x.resource.Patch == nil) {
		return unsupported(x.r.Method)
	}
	return nil
}

// passPatch passes a patch, unless it is refused for another reason than its body.
func (x *Exchange) passPatch(find Finder) *StatusError {
	switch res, err := find(&x.r, noPeek); {
	case err != nil && !stderrors.Is(err, errUnseen):
		return x.unfound(err)
	case err == nil && res == nil:
		return x.unfound(errNoProgram)
	}
	return nil
}

// noPeek is the [Peek] of requests whose body is not read.
func noPeek() (apiVersion, kind string, err error) { return "", "", errUnseen }

// Decode reads the body and decodes it by the resource that Find has found. The
// result is what to pass on. If Find has refused the request, Decode returns
// the same refusal. Decode panics before Find, after Close, and after an
// earlier call of Decode or Stream.
func (x *Exchange) Decode() (Result, *StatusError) {
	x.mustBeFound()
	x.isTaken = true
	if x.refused != nil {
		return Result{}, x.refused
	}
	if x.resource == nil {
		if !x.isRead && !x.isBegun {
			return Result{Untouched: true}, nil
		}
		if refused := x.read(); refused != nil {
			return Result{}, refused
		}
		return x.pass(Result{Body: x.body, Changed: x.gzip}), nil
	}
	if refused := x.read(); refused != nil {
		return Result{}, refused
	}
	start := time.Now()
	defer func() { x.decoding += time.Since(start) }()
	if x.refused = x.run(); x.refused != nil {
		return Result{}, x.refused
	}
	if x.gate.opts.Action == Report {
		x.free(&x.result)
		return x.pass(Result{Body: x.body, Changed: x.gzip, ContentType: x.form.readAs()}), nil
	}
	x.free(&x.body)
	return x.pass(Result{Body: x.result, Changed: true, ContentType: x.form.passedOnAs()}), nil
}

// mustBeFound panics if Find was not called, because a request without a resource passes untouched,
// and if the body was taken already.
func (x *Exchange) mustBeFound() {
	switch {
	case !x.isFound:
		panic("request: Find comes before Decode and Stream")
	case x.isTaken:
		panic("request: the body was decoded already, or the Exchange is closed")
	}
}

// pass records what is passed on.
func (x *Exchange) pass(out Result) Result {
	x.sent = int64(len(out.Body))
	out.Warnings = warnings(x.texts)
	x.texts = nil
	return out
}

// check makes the checks that need no body, in the order of the API server.
func (x *Exchange) check() (refused *StatusError) {
	if x.form, refused = formOf(&x.r); refused != nil {
		return refused
	}
	if x.gate.opts.Action == Report && !isInUTF8(&x.r) {
		return unsupported(x.r.Method)
	}
	if x.gzip, refused = isGzip(&x.r, x.gate.opts.Gzip); refused != nil {
		return refused
	}
	if len(x.r.values("Content-Range")) > 0 { // RFC 9110 section 14.5
		return BadRequest("the header Content-Range is refused: a body is a whole object or patch")
	}
	if x.r.ContentLength > x.gate.opts.MaxBytes {
		return TooLarge(x.gate.opts.MaxBytes)
	}
	x.validation, refused = validationOf(&x.r)
	return refused
}

// peek is the [Peek] of the request.
func (x *Exchange) peek() (apiVersion, kind string, err error) {
	if !x.isRead {
		x.refused = x.check()
		x.isRead = x.refused != nil
	}
	if x.r.Stream && x.form == jsonObject && !x.gzip && x.gate.opts.Action == Rewrite && x.readStart() {
		return *x.found.apiVersion, *x.found.kind, nil
	}
	if refused := x.read(); refused != nil {
		return "", "", refused
	}
	defer x.gate.budget.slot(len(x.body))()
	defer func(before int) { x.memory.release(x.memory.bytes - before) }(x.memory.bytes)
	text, err := x.json()
	// The resource decides later whether a body that only the server reads is accepted.
	if err != nil {
		var serverErr error
		if text, serverErr = x.bridge(yamlbridge.Server); serverErr != nil {
			return "", "", x.decodeError(err)
		}
	}
	if apiVersion, kind, err = decoder.PeekType(text, decoder.WithBudget(&x.memory)); err != nil {
		return "", "", x.decodeError(err)
	}
	return apiVersion, kind, nil
}

// unfound returns the answer for an error of the Finder.
func (x *Exchange) unfound(err error) *StatusError {
	var refused *StatusError
	var unknown *schema.NotFoundError
	if stderrors.As(err, &refused) {
		if refused != nil {
			return refused
		}
		err = errNoProgram // a nil *StatusError decides nothing
	}
	switch {
	case stderrors.As(err, &unknown):
		refused = BadRequest(upTo(maxReason, unknown.Error()))
	default:
		refused = &StatusError{Code: statusInternalError, Reason: "InternalError",
			Message: "Internal error occurred: there is no way to decode the body of the request"}
	}
	refused.Err = err
	return refused
}

// free gives a buffer of the exchange back.
func (x *Exchange) free(b *[]byte) {
	x.gate.budget.free(*b, &x.memory)
	*b = nil
}

// letGo gives back all memory except that of a stream.
func (x *Exchange) letGo() {
	x.free(&x.body)
	x.free(&x.result)
	x.memory.release(x.memory.bytes)
}

// Close releases the memory of the request. The body of its result must not be
// read afterwards.
func (x *Exchange) Close() {
	x.isFound, x.isTaken = true, true
	if x.streamed != nil {
		x.streamed.Close()
	}
	x.letGo()
	x.decoderMemory.release(x.decoderMemory.bytes)
}

// Answer returns the answer that tells the sender of a refusal, in the form
// that the options select. Its memory is charged until Close, because the
// recipient may be slow, and all other memory of the exchange is released. If
// there is no room for the answer, Answer returns one with 503 instead.
func (x *Exchange) Answer(refused *StatusError) Answer {
	refused, needs := x.refuse(refused)
	answer := refused.Answer(x.gate.opts.ProblemDetails)
	x.memory.release(max(0, needs-cap(answer.Body)))
	return answer
}

// Refuse is Answer for callers that present the refusal in a form of their own,
// which must not need more memory than the forms of this package. It returns
// refused, or a refusal with 503 if there is no room.
func (x *Exchange) Refuse(refused *StatusError) *StatusError {
	refused, _ = x.refuse(refused)
	return refused
}

// refuse charges the memory of the answer to a refusal, and returns how much that is.
func (x *Exchange) refuse(refused *StatusError) (_ *StatusError, needs int) {
	if x.streamed == nil {
		x.letGo()
	}
	needs = refused.most(x.gate.opts.ProblemDetails)
	if !x.memory.charge(needs) {
		return overloaded(), 0
	}
	return refused, needs
}

package cluster

// This file reads lists in pages. A page is read to its end before anything of it is handed on: if the
// connection breaks, the same page is asked for again, and no object comes twice.

import (
	"bytes"
	"context"
	stderrors "errors"
	"fmt"
	"io"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/locate"
	"github.com/espalier-dev/espalier/internal/jsonv2"
	"github.com/espalier-dev/espalier/schema"
)

const (
	// pageObjects is how many objects are asked for at once, as by kubectl.
	pageObjects = 500
	// pageTries is how often a page is asked for whose transfer breaks, or whose place in the list is
	// gone.
	pageTries = 3
)

// maxPageBytes is how much memory a page may take. Of larger objects, fewer are asked for.
var maxPageBytes = 32 << 20

// pageTimeout is the time for a page. A kube-apiserver gives up after one minute by default.
var pageTimeout = 2 * time.Minute

// A Selection says which objects of a kind are read. The zero Selection is for all.
type Selection struct {
	Namespace      string
	Labels, Fields string // selectors, as in kubectl
}

// Check returns an error if a selector has a syntax error.
func (s Selection) Check() error {
	if _, err := labels.Parse(s.Labels); err != nil {
		return fmt.Errorf("%q is no selector of labels: %w", s.Labels, err)
	}
	if _, err := fields.ParseSelector(s.Fields); err != nil {
		return fmt.Errorf("%q is no selector of fields: %w", s.Fields, err)
	}
	return nil
}

// A List reads the objects of one kind.
type List struct {
	ctx     context.Context
	cluster *Cluster
	path    string
	params  [][2]string
	err     error // of the kind, before anything is read

	limit  int    // how many objects are asked for
	next   string // the token for the next page
	begun  bool   // a page was read
	body   []byte // the page
	items  []span // objects of the page that were not handed on
	line   []byte // an object, for Read
	rest   []byte // of line, which was not read
	passed int    // objects in the pages so far
	mixed  int
}

// A span is the place of an object in a page.
type span struct{ from, to int }

// List returns the list of the objects of a definition, in the version in which they are stored, if it
// is served. No request is sent before the first object is asked for.
func (c *Cluster) List(ctx context.Context, of *schema.CRD, s Selection) *List {
	l := &List{ctx: ctx, cluster: c, limit: pageObjects}
	version := listedVersion(of)
	switch {
	case version == "":
		l.err = stderrors.New("the definition has no version that is served")
	case s.Namespace != "" && of.Scope == "Cluster":
		l.err = stderrors.New("its objects are in no namespace")
	}
	l.path = "/apis/" + of.Group + "/" + version
	segments := []string{of.Group, version, of.Plural}
	if s.Namespace != "" {
		l.path += "/namespaces/" + s.Namespace
		segments = append(segments, s.Namespace)
	}
	l.path += "/" + of.Plural
	for _, segment := range segments {
		if l.err == nil && (segment == "" || len(rest.IsValidPathSegmentName(segment)) > 0) {
			l.err = fmt.Errorf("%q cannot be a part of a path", segment)
		}
	}
	for _, p := range [][2]string{{"labelSelector", s.Labels}, {"fieldSelector", s.Fields}} {
		if p[1] != "" {
			l.params = append(l.params, p)
		}
	}
	return l
}

// listedVersion returns the version in which objects are listed, or "".
func listedVersion(of *schema.CRD) string {
	best := ""
	for _, v := range of.Versions {
		if v.Served && (best == "" || v.Storage) {
			best = v.Name
		}
	}
	return best
}

// Mixed returns after how many objects the list went on from a later state, because the server had
// forgotten the one at which it began. The other objects are as they were later: some that were made
// or deleted meanwhile may be missing, none comes twice. It is 0 if that has not happened.
func (l *List) Mixed() int { return l.mixed }

// Next returns the next object, which is valid until the next call, or io.EOF.
func (l *List) Next() ([]byte, error) {
	for len(l.items) == 0 {
		if l.err != nil {
			return nil, l.err
		}
		if _, l.err = l.page(); l.err != nil {
			l.items, l.body = nil, nil
		}
	}
	at := l.items[0]
	l.items = l.items[1:]
	return l.body[at.from:at.to], nil
}

// Read reads the objects as lines.
func (l *List) Read(p []byte) (int, error) {
	if len(l.rest) == 0 {
		object, err := l.Next()
		if err != nil {
			l.line = nil
			return 0, err
		}
		// Within JSON that is well-formed, line breaks are only between tokens.
		l.line = append(append(l.line[:0], object...), '\n')
		l.rest = l.line
		for i, c := range object {
			if c == '\n' || c == '\r' {
				l.line[i] = ' '
			}
		}
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// page returns the next page, which is valid until the next call, or io.EOF after the last one.
func (l *List) page() ([]byte, error) {
	if l.begun && l.next == "" {
		return nil, io.EOF
	}
	for try := 1; ; {
		err := l.fetch()
		switch {
		case err == nil:
			return l.body, l.cut()
		case l.ctx.Err() != nil:
			return nil, l.ctx.Err()
		case stderrors.Is(err, errTooLarge) && l.limit > 1:
			l.limit = max(l.limit/4, 1)
			continue
		case try == pageTries:
			return nil, err
		case isExpired(err):
			if err := l.goOn(err); err != nil {
				return nil, err
			}
		case !stderrors.As(err, new(*brokenError)):
			return nil, err
		}
		try++
	}
}

var errTooLarge = fmt.Errorf("the server sends more than %d MiB at once, and does not divide it", maxPageBytes>>20)

// A brokenError is for an answer that has ended too early.
type brokenError struct{ error }

// fetch reads the body of a page.
func (l *List) fetch() error {
	ctx, cancel := context.WithTimeout(l.ctx, pageTimeout)
	defer cancel()
	r := l.cluster.client.Get().AbsPath(l.path).Param("limit", strconv.Itoa(l.limit))
	if l.next != "" {
		r.Param("continue", l.next)
	}
	for _, p := range l.params {
		r.Param(p[0], p[1])
	}
	body, err := r.Stream(ctx) // which waits and tries again where the server asks for it
	if err == nil {
		err = l.read(body)
		body.Close()
	} else if utilnet.IsProbableEOF(err) || utilnet.IsConnectionReset(err) {
		err = &brokenError{err}
	}
	if ctx.Err() != nil && l.ctx.Err() == nil {
		return fmt.Errorf("the server has not sent %s within %s", l.path, pageTimeout)
	}
	return err
}

// read reads the body of a page into l.body.
func (l *List) read(body io.Reader) error {
	b := bytes.NewBuffer(l.body[:0])
	_, err := b.ReadFrom(io.LimitReader(body, int64(maxPageBytes)+1))
	l.body = b.Bytes()
	switch {
	case err != nil:
		return &brokenError{fmt.Errorf("the answer to %s has ended early: %w", l.path, err)}
	case len(l.body) > maxPageBytes:
		return errTooLarge
	}
	return nil
}

// isExpired reports whether the server no longer has the state at which the list began.
func isExpired(err error) bool { return apierrors.IsResourceExpired(err) || apierrors.IsGone(err) }

// goOn makes the list go on after the last object from a later state. The server's answer has the
// token for that.
func (l *List) goOn(expired error) error {
	var status apierrors.APIStatus
	if stderrors.As(expired, &status) {
		l.next = status.Status().Continue
	}
	switch {
	case l.passed == 0: // from the start
	case l.next == "":
		return fmt.Errorf("the server has forgotten the list after %d objects, and cannot go on: read it again, or fewer objects at a time: %w", l.passed, expired)
	default:
		l.mixed = l.passed
	}
	return nil
}

var errNoList = stderrors.New("the answer is no list of objects")

// cut finds the objects of a page, and the token for the next one. It is an error if the page is not
// well-formed to its end.
func (l *List) cut() error {
	was := l.next
	l.begun, l.next, l.items = true, "", nil
	d := locate.NewDecoder(bytes.NewBuffer(l.body))
	if d.PeekKind() != '{' {
		return errNoList
	}
	// The decoder repeats its first error until the end.
	_, _ = d.ReadToken()
	isList := false
	for d.PeekKind() == '"' {
		name, _ := d.ReadToken()
		switch text := name.String(); {
		case text == "items" && d.PeekKind() == '[':
			isList = true
			l.cutItems(d)
		case text == "metadata":
			var metadata struct {
				Continue string `json:"continue"`
			}
			if v, err := d.ReadValue(); err == nil {
				if err := jsonv2.Unmarshal(v, &metadata, jsonv2.AllowInvalidUTF8(true)); err != nil {
					return fmt.Errorf("%w: %w", errNoList, err)
				}
				l.next = metadata.Continue
			}
		case text == "items" && d.PeekKind() == 'n': // a list of nothing
			isList = true
			fallthrough
		default:
			_ = d.SkipValue()
		}
	}
	if _, err := d.ReadToken(); err != nil {
		return fmt.Errorf("%w: %w", errNoList, err)
	}
	if _, err := d.ReadToken(); err != io.EOF || !isList {
		return errNoList
	}
	if l.next != "" && l.next == was {
		return stderrors.New("the server sends the same part of the list again and again")
	}
	l.passed += len(l.items)
	return nil
}

// cutItems finds the elements of an array.
func (l *List) cutItems(d *jsonv2.Decoder) {
	_, _ = d.ReadToken()
	for d.PeekKind() != ']' {
		v, err := d.ReadValue()
		if err != nil {
			return
		}
		end := int(d.InputOffset())
		l.items = append(l.items, span{end - len(v), end})
	}
	_, _ = d.ReadToken()
}

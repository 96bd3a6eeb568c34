package e2e

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	typed "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset/typed/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/espalier-dev/espalier/decoder"
	ferrors "github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/espalier-dev/espalier/internal/laws"
	"github.com/espalier-dev/espalier/middleware"
	requests "github.com/espalier-dev/espalier/request"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
	"github.com/espalier-dev/espalier/yamlbridge"
)

var (
	valuesFlag = flag.Int("values", 600, "how many generated `objects` TestValues sends")
	fromFlag   = flag.Uint64("from", 0, "the first `seed` of TestValues, TestUpdates and TestDecoders")
)

const valuesFile = "testdata/values.yaml"

// TestValues sends objects to a server that creates them or updates their status, and compares its
// answers with what validation says of the same bytes here: whether they are accepted, each error
// with its type, field and text, and the warnings. The errors are compared as a set with repeats, as
// the server goes through maps, whose order is random.
func TestValues(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	config, _, storage := startServer(t)
	clients, err := clientset.NewForConfig(config)
	require.NoError(t, err)
	manifest, err := os.ReadFile(valuesFile)
	require.NoError(t, err)
	s := &valueServer{T: t, config: config, client: newEndpoint(t, "values", config).client, definitions: clients.ApiextensionsV1().CustomResourceDefinitions(), rules: make(map[string]int), names: new(int)}
	kinds := s.await(s.define(manifest))
	arbors, pots := kinds[0], kinds[1]
	t.Run("cases", func(t *testing.T) { s.on(t).compareCases(arbors) })
	t.Run("objects", func(t *testing.T) { s.on(t).compareObjects(arbors, pots) })
	t.Run("random definitions", func(t *testing.T) { s.on(t).compareRandom() })
	t.Run("gateway-api", func(t *testing.T) { s.on(t).compareGateways() })
	t.Run("stored objects", func(t *testing.T) { s.on(t).compareStored(arbors) })
	t.Run("strategy", func(t *testing.T) { s.on(t).compareStrategy(arbors, storage) })
}

// Differences that are intended.
const (
	otherVersion = "the server refuses an object of another version before it validates it"
	otherKind    = "the server neither prunes nor defaults an object of another kind, and refuses it"
	byChanceName = "the random part of a generated name decides whether it is valid"
	managers     = "the server drops managedFields of fields that an object sets, and then validates the others"
	celRules     = "rules in CEL are not evaluated here"
	fromStored   = "of an update of the status, the server takes all but the status from the stored object"
	oddNames     = "names that are long or not plain text are cut or escaped in warnings, some of which the server leaves out"
	excused      = "the server excuses what is invalid in the stored object, too"
)

// A valueServer has the definitions that are served.
type valueServer struct {
	*testing.T
	config      *rest.Config
	client      *rest.RESTClient
	definitions typed.CustomResourceDefinitionInterface
	seen        *valuesSeen
	rules       map[string]int // how often each rule has refused a value
	names       *int           // how many namespaces there are
}

// on returns the server for a subtest, with counts of its own.
func (s *valueServer) on(t *testing.T) *valueServer {
	t.Helper()
	sub := *s
	sub.T, sub.seen = t, newValuesSeen()
	started := time.Now()
	t.Cleanup(func() { t.Logf("%v in %v", sub.seen, time.Since(started).Round(time.Millisecond)) })
	return &sub
}

// valuesSeen counts what was compared.
type valuesSeen struct {
	creates, updates, refused, invalid, invalidUpdates, warned, generated, stored, errors int
	explained                                                                             map[string]int
	failed                                                                                int
}

func newValuesSeen() *valuesSeen {
	return &valuesSeen{explained: make(map[string]int)}
}

func (y *valuesSeen) String() string {
	return fmt.Sprintf("%d creations, %d invalid, %d with warnings, %d with generated names; %d updates of the status, %d invalid; "+
		"%d refused by both before validation; %d errors; %d stored; explained: %v",
		y.creates, y.invalid, y.warned, y.generated, y.updates, y.invalidUpdates, y.refused, y.errors, y.stored, y.explained)
}

// A valueKind is a version of a definition that is served, and what judges its objects here.
type valueKind struct {
	manifest       *apiextensionsv1.CustomResourceDefinition
	crd            *schema.CRD
	version        *schema.Version
	create, status *decoder.Decoder
	gate           http.Handler    // the middleware in front of a handler that accepts everything
	rules          map[string]bool // the texts of rules in CEL
}

func newValueKind(t *testing.T, manifest *apiextensionsv1.CustomResourceDefinition, crd *schema.CRD, version *schema.Version) *valueKind {
	program, err := crd.Program(version.Name, validation.Values())
	require.NoError(t, err)
	limits := decoder.Limits{Findings: 1 << 20, FindingBytes: 1 << 30}
	k := &valueKind{
		manifest: manifest, crd: crd, version: version,
		create: decoder.New(program, limits, decoder.ServerRequests, decoder.ValidateCreate),
		status: decoder.New(program, limits, decoder.ServerRequests, decoder.ValidateStatusUpdate),
		rules:  make(map[string]bool),
	}
	find := requests.Always(&requests.Resource{
		APIVersion: crd.Group + "/" + version.Name, Kind: crd.Kind, Program: program,
		Decoder: []decoder.Option{limits, decoder.ServerRequests, decoder.ValidateCreate},
	})
	k.gate = middleware.New(find, middleware.Options{})(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusCreated)
	}))
	for _, v := range manifest.Spec.Versions {
		if v.Name == version.Name {
			addRules(k.rules, v.Schema.OpenAPIV3Schema)
		}
	}
	return k
}

// addRules adds the texts of the rules in CEL that a schema has.
func addRules(texts map[string]bool, s *apiextensionsv1.JSONSchemaProps) {
	for _, r := range s.XValidations {
		texts[cmp.Or(strings.TrimSpace(r.Message), "failed rule: "+strings.TrimSpace(r.Rule))] = true
	}
	if s.Items != nil && s.Items.Schema != nil {
		addRules(texts, s.Items.Schema)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		addRules(texts, s.AdditionalProperties.Schema)
	}
	for name := range s.Properties {
		property := s.Properties[name]
		addRules(texts, &property)
	}
}

// isRule reports whether the server says something about rules in CEL.
func (k *valueKind) isRule(c metav1.StatusCause) bool {
	if isNotChecked(c) {
		return len(k.rules) > 0
	}
	text := strings.TrimPrefix(c.Message, "Invalid value: ")
	_, evaluated, _ := strings.Cut(text, " evaluating rule: ")
	return c.Type == metav1.CauseTypeFieldValueInvalid && (k.rules[text] || k.rules[evaluated])
}

// isNotChecked reports whether the server says that it has not evaluated rules.
func isNotChecked(c metav1.StatusCause) bool {
	return c.Message == "Invalid value: null: some validation rules were not checked because the object was invalid; "+
		"correct the existing errors to complete validation"
}

// isBlocking reports whether an error keeps the server from evaluating rules (hasBlockingErr).
func isBlocking(c metav1.StatusCause) bool {
	types := []field.ErrorType{field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid}
	return slices.Contains(types, field.ErrorType(c.Type))
}

// define creates the definitions in a manifest, and returns their versions.
func (s *valueServer) define(manifest []byte) (kinds []*valueKind) {
	s.Helper()
	for doc := range yamlbridge.Documents(manifest) {
		crd := new(apiextensionsv1.CustomResourceDefinition)
		require.NoError(s, yaml.Unmarshal(doc.Bytes, crd))
		crd, err := s.definitions.Create(context.Background(), crd, metav1.CreateOptions{})
		require.NoError(s, err, "%s", doc.Bytes)
		kinds = append(kinds, s.kindsOf(crd)...)
	}
	return kinds
}

// kindsOf returns the versions of a definition that are served and have a schema. The definition is
// that which the server has stored: 1.0 in an enum is 1 then, which the server finds equal to 1.5, as
// it converts that to an integer.
func (s *valueServer) kindsOf(crd *apiextensionsv1.CustomResourceDefinition) (kinds []*valueKind) {
	s.Helper()
	crd.APIVersion, crd.Kind = "apiextensions.k8s.io/v1", "CustomResourceDefinition"
	js, err := json.Marshal(crd)
	require.NoError(s, err)
	parsed, err := schema.ParseCRD(js)
	require.NoError(s, err)
	for i := range parsed[0].Versions {
		if v := &parsed[0].Versions[i]; v.Served && v.Schema != nil {
			kinds = append(kinds, newValueKind(s.T, crd, parsed[0], v))
		}
	}
	return kinds
}

// await waits until the versions are served.
func (s *valueServer) await(kinds []*valueKind) []*valueKind {
	s.Helper()
	for _, k := range kinds {
		require.Eventually(s, func() bool {
			_, err := s.client.Get().AbsPath(k.path("", "")).MaxRetries(0).Do(context.Background()).Raw()
			return err == nil
		}, time.Minute, 10*time.Millisecond)
	}
	return kinds
}

// path returns the path of an object, or that of all in a namespace.
func (k *valueKind) path(namespace, name string) string {
	p := "/apis/" + k.crd.Group + "/" + k.version.Name
	if k.manifest.Spec.Scope == apiextensionsv1.NamespaceScoped && namespace != "" {
		p = path.Join(p, "namespaces", url.PathEscape(namespace))
	}
	return path.Join(p, k.crd.Plural, url.PathEscape(name))
}

// A judgement is what one side says of a request.
type judgement struct {
	code     int
	status   *metav1.Status // of a refusal
	causes   []metav1.StatusCause
	warnings []string
	object   map[string]any // that is created or updated
}

// send sends an object. If the server is not to store it, another can have its name.
func (s *valueServer) send(method, path, contentType string, doc []byte, isStored bool) (j judgement) {
	s.Helper()
	call := s.client.Verb(method).RequestURI(path).SetHeader("Content-Type", contentType).SetHeader("User-Agent", "e2e").Body(doc)
	if !isStored {
		call = call.Param("dryRun", "All")
	}
	result := call.Do(context.Background())
	result.StatusCode(&j.code)
	for _, w := range result.Warnings() {
		j.warnings = append(j.warnings, w.Text)
	}
	raw, _ := result.Raw() // the error is the code
	if j.code < 300 {
		require.NoError(s, json.Unmarshal(raw, &j.object), "%s", raw)
		return j
	}
	j.read(s.T, raw)
	return j
}

// read reads the status in an answer.
func (j *judgement) read(t *testing.T, raw []byte) {
	t.Helper()
	j.status = new(metav1.Status)
	require.NoError(t, json.Unmarshal(raw, j.status), "%d %s", j.code, raw)
	if j.status.Details != nil {
		j.causes = j.status.Details.Causes
	}
}

var reasons = map[ferrors.SchemaErrorKind]field.ErrorType{
	ferrors.SchemaRequired: field.ErrorTypeRequired, ferrors.SchemaInvalid: field.ErrorTypeInvalid,
	ferrors.SchemaTypeInvalid: field.ErrorTypeTypeInvalid, ferrors.SchemaForbidden: field.ErrorTypeForbidden,
	ferrors.SchemaUnsupported: field.ErrorTypeNotSupported, ferrors.SchemaDuplicate: field.ErrorTypeDuplicate,
	ferrors.SchemaTooLong: field.ErrorTypeTooLong, ferrors.SchemaTooMany: field.ErrorTypeTooMany,
}

// judge judges a document by a decoder. The error is fatal.
func (s *valueServer) judge(d *decoder.Decoder, contentType string, doc []byte) (causes []metav1.StatusCause, fatal error) {
	decode := (*decoder.Decoder).AppendJSON
	if contentType == yamlType {
		decode = (*decoder.Decoder).AppendYAML
	}
	_, err := decode(d, nil, doc)
	invalid, isInvalid := errors.AsType[*ferrors.InvalidError](err)
	if err != nil && !isInvalid {
		return nil, err
	}
	for _, f := range d.Findings() {
		if v := f.Invalid; f.Kind == ferrors.InvalidValue {
			at := cmp.Or(v.Field, "<nil>") // the text of a field.Path that is nil
			causes = append(causes, metav1.StatusCause{
				Type: metav1.CauseType(reasons[v.Kind]), Field: at, Message: strings.TrimPrefix(v.Error(), at+": "),
			})
			s.rules[v.Rule]++
		}
	}
	require.Equal(s, isInvalid, len(causes) > 0)
	if isInvalid {
		require.Len(s, invalid.Findings(), len(causes))
	}
	return causes, nil
}

// ask asks the middleware about a document.
func (s *valueServer) ask(k *valueKind, method, contentType string, doc []byte) (j judgement) {
	r := httptest.NewRequest(method, "/", bytes.NewReader(doc))
	r.Header.Set("Content-Type", contentType)
	w := httptest.NewRecorder()
	k.gate.ServeHTTP(w, r)
	if j.code = w.Code; j.code >= 300 {
		j.read(s.T, w.Body.Bytes())
	}
	list, errs := utilnet.ParseWarningHeaders(w.Header().Values("Warning"))
	require.Empty(s, errs)
	for _, w := range list {
		j.warnings = append(j.warnings, w.Text)
	}
	return j
}

// sorted returns causes in an order that both sides can have.
func sorted(causes []metav1.StatusCause) []metav1.StatusCause {
	causes = slices.Clone(causes)
	slices.SortFunc(causes, func(a, b metav1.StatusCause) int {
		return cmp.Or(cmp.Compare(a.Field, b.Field), cmp.Compare(a.Message, b.Message), cmp.Compare(a.Type, b.Type))
	})
	return causes
}

// equal reports whether causes are the same, in any order.
func equal(a, b []metav1.StatusCause) bool { return slices.Equal(sorted(a), sorted(b)) }

// without returns the causes that are not meant.
func without(causes []metav1.StatusCause, isMeant func(metav1.StatusCause) bool) []metav1.StatusCause {
	return slices.DeleteFunc(slices.Clone(causes), isMeant)
}

// named is the part of metadata that matters to where an object is created.
type named struct {
	Name, GenerateName, Namespace string
}

func namedIn(doc []byte) (n named) {
	var x struct{ Metadata any }
	if json.Unmarshal(doc, &x) != nil && yaml.Unmarshal(doc, &x) != nil {
		return n
	}
	m, _ := x.Metadata.(map[string]any)
	n.Name, _ = m["name"].(string)
	n.GenerateName, _ = m["generateName"].(string)
	n.Namespace, _ = m["namespace"].(string)
	return n
}

// compareCreate compares what both sides say of the creation of an object, and returns it if the
// server accepts it. It is stored if another of the same name can be stored elsewhere.
func (s *valueServer) compareCreate(k *valueKind, contentType string, doc []byte) (stored map[string]any) {
	s.Helper()
	n := namedIn(doc)
	isCluster := k.manifest.Spec.Scope == apiextensionsv1.ClusterScoped
	namespace := n.Namespace
	isStored := namespace == "" && !isCluster && n.GenerateName == ""
	if namespace == "" {
		*s.names++
		namespace = fmt.Sprint("n", *s.names)
	}
	theirs := s.send(http.MethodPost, k.path(namespace, ""), contentType, doc, isStored)
	s.seen.creates++
	theirs.settleName(n, s.seen)
	causes, fatal := s.judge(k.create, contentType, doc)
	gate := s.ask(k, http.MethodPost, contentType, doc)
	if theirs.code == http.StatusUnprocessableEntity {
		s.seen.invalid++
	}
	s.seen.warned += min(len(theirs.warnings), 1)
	s.compare("create", k, contentType, doc, n, theirs, causes, fatal, &gate)
	if theirs.object != nil && isStored {
		s.seen.stored++
	} else if theirs.object != nil && k.version.HasStatus {
		return s.storeAs(k, theirs.object)
	}
	return theirs.object
}

// storeAs stores an accepted object under another name, for updates of its status.
func (s *valueServer) storeAs(k *valueKind, accepted map[string]any) map[string]any {
	s.Helper()
	*s.names++
	name := fmt.Sprint("n", *s.names)
	object := maps.Clone(accepted)
	object["metadata"] = map[string]any{"name": name}
	doc, err := json.Marshal(object)
	require.NoError(s, err)
	stored := s.send(http.MethodPost, k.path(name, ""), jsonType, doc, true).object // nil if the schema is about names
	s.seen.stored += min(len(stored), 1)
	return stored
}

// compareStatus compares what both sides say of an update of the status. It returns the stored
// object.
func (s *valueServer) compareStatus(k *valueKind, contentType string, stored map[string]any, status []byte) map[string]any {
	s.Helper()
	doc := withStatus(s.T, stored, status)
	if forms := formsOf(doc); contentType == yamlType {
		last := forms[len(forms)-1]
		contentType, doc = last.contentType, last.doc
	}
	theirs := s.update(k, contentType, stored, doc, true)
	causes, fatal := s.judge(k.status, contentType, doc)
	gate := s.ask(k, http.MethodPut, contentType, doc)
	gate.status, gate.causes, gate.code = nil, nil, 0 // it leaves updates to the server
	s.seen.updates++
	if theirs.code == http.StatusUnprocessableEntity {
		s.seen.invalidUpdates++
	}
	s.seen.warned += min(len(theirs.warnings), 1)
	s.compare("update of the status", k, contentType, doc, named{}, theirs, causes, fatal, &gate)
	if theirs.object != nil {
		return theirs.object
	}
	return stored
}

func (s *valueServer) update(k *valueKind, contentType string, stored map[string]any, doc []byte, isStored bool) judgement {
	s.Helper()
	metadata := stored["metadata"].(map[string]any)
	namespace, _ := metadata["namespace"].(string)
	return s.send(http.MethodPut, k.path(namespace, metadata["name"].(string))+"/status", contentType, doc, isStored)
}

// withStatus returns a stored object with another status, or with none.
func withStatus(t *testing.T, stored map[string]any, status []byte) []byte {
	t.Helper()
	object := maps.Clone(stored)
	delete(object, "status")
	if status != nil {
		object["status"] = json.RawMessage(status)
	}
	js, err := json.Marshal(object)
	require.NoError(t, err)
	return js
}

// settleName replaces the name that the server has generated by the one that is validated here, with
// xxxxx for its five random characters.
func (j *judgement) settleName(n named, seen *valuesSeen) {
	if n.Name != "" || n.GenerateName == "" || j.status == nil || j.status.Details == nil || len(j.status.Details.Name) < 5 {
		return
	}
	seen.generated++
	name := j.status.Details.Name
	base := name[:len(name)-5]
	if !strings.HasPrefix(n.GenerateName, base) {
		return
	}
	for i := range j.causes {
		j.causes[i].Message = strings.ReplaceAll(j.causes[i].Message, name, base+"xxxxx")
	}
	j.status.Message = strings.ReplaceAll(j.status.Message, name, base+"xxxxx")
	j.status.Details.Name = base + "xxxxx"
}

// compare compares the answer of the server with that of the decoder and that of the middleware.
func (s *valueServer) compare(
	what string, k *valueKind, contentType string, doc []byte, n named, theirs judgement, causes []metav1.StatusCause, fatal error, gate *judgement,
) {
	s.Helper()
	fail := func(format string, args ...any) {
		s.Helper()
		if s.seen.failed++; s.seen.failed <= 4 {
			s.Errorf("%s of %s as %s: %s\n%.900s", what, k.crd.Kind, contentType, fmt.Sprintf(format, args...), doc)
		}
	}
	const invalid = http.StatusUnprocessableEntity
	switch {
	case fatal != nil && theirs.code == http.StatusBadRequest:
		s.seen.refused++
		return
	case fatal != nil && slices.ContainsFunc(theirs.causes, isOfKind):
		s.seen.explained[otherKind]++
		return
	case fatal != nil || theirs.code != invalid && theirs.code >= 300:
		isOfVersion := func(c metav1.StatusCause) bool { return c.Field == "apiVersion" }
		if theirs.code == http.StatusBadRequest && strings.Contains(theirs.status.Message, "does not match the expected API version") && slices.ContainsFunc(causes, isOfVersion) {
			s.seen.explained[otherVersion]++
			return
		}
		fail("they: %d %v\nwe:   %v %v", theirs.code, theirs.status, fatal, causes)
		return
	}
	s.seen.errors += len(causes)
	if why, ok := s.explain(k, n, theirs.causes, causes); !ok {
		fail("only they: %q\nonly we:   %q", minus(theirs.causes, causes), minus(causes, theirs.causes))
		return
	} else if why != "" {
		s.seen.explained[why]++
		return
	}
	if !s.sameWarnings(theirs, *gate, causes) {
		fail("warnings: they: %q\nwe:   %q", theirs.warnings, gate.warnings)
	}
	if gate.code == 0 {
		return
	}
	if gate.code != theirs.code || !equal(gate.causes, causes) {
		fail("the middleware: %d %v\nthe server: %d", gate.code, gate.status, theirs.code)
	}
	if theirs.status != nil && headOf(theirs.status) != headOf(gate.status) {
		fail("the status: they: %s\nwe:   %s", headOf(theirs.status), headOf(gate.status))
	}
}

// sameWarnings reports whether the warnings are the same, or differ for a reason.
func (s *valueServer) sameWarnings(theirs, ours judgement, causes []metav1.StatusCause) bool {
	rest, odd := withoutOddNames(ours.warnings)
	switch {
	case slices.Equal(theirs.warnings, ours.warnings):
	case slices.ContainsFunc(causes, isOfKind):
		s.seen.explained[otherKind]++
	case odd > 0 && isPart(rest, theirs.warnings, odd):
		s.seen.explained[oddNames]++
	default:
		return false
	}
	return true
}

func isOfKind(c metav1.StatusCause) bool { return c.Field == "kind" }

// withoutOddNames returns the warnings without those that have names in our spelling, and how many
// these are.
func withoutOddNames(warnings []string) (rest []string, odd int) {
	rest = slices.DeleteFunc(slices.Clone(warnings), func(text string) bool {
		return strings.Contains(text, `["`) || strings.Contains(text, "...")
	})
	return rest, len(warnings) - len(rest)
}

// isPart reports whether all is list, in this order, with at most so many others.
func isPart(list, all []string, others int) bool {
	if len(all) > len(list)+others {
		return false
	}
	for _, text := range all {
		if len(list) > 0 && list[0] == text {
			list = list[1:]
		}
	}
	return len(list) == 0
}

// headOf returns what a status says besides its causes.
func headOf(s *metav1.Status) string {
	start, _, _ := strings.Cut(s.Message, " is invalid: ")
	return fmt.Sprintf("%s %s %d %q: %s %s %s %s", s.Status, s.Reason, s.Code, start, s.Details.Group, s.Details.Kind, s.Details.Name, s.Details.UID)
}

// minus returns the causes of a that b does not have.
func minus(a, b []metav1.StatusCause) []metav1.StatusCause {
	b = slices.Clone(b)
	return without(a, func(c metav1.StatusCause) bool {
		i := slices.Index(b, c)
		if i >= 0 {
			b = slices.Delete(b, i, i+1)
		}
		return i >= 0
	})
}

// explain reports whether the errors are the same, or differ for a reason, which it returns.
func (s *valueServer) explain(k *valueKind, n named, theirs, ours []metav1.StatusCause) (why string, ok bool) {
	if equal(theirs, ours) {
		return "", true
	}
	if rest := without(theirs, k.isRule); len(rest) < len(theirs) && equal(rest, ours) {
		return celRules, slices.ContainsFunc(theirs, isNotChecked) == slices.ContainsFunc(ours, isBlocking)
	}
	if slices.ContainsFunc(theirs, isOfKind) && slices.ContainsFunc(ours, isOfKind) {
		return otherKind, true
	}
	isName := func(c metav1.StatusCause) bool { return c.Field == "metadata.name" || c.Field == "<nil>" }
	if n.Name == "" && n.GenerateName != "" && equal(without(theirs, isName), without(ours, isName)) {
		return byChanceName, true
	}
	return "", false
}

// A form is a document as JSON or as YAML.
type form struct {
	contentType string
	doc         []byte
}

// formsOf returns an object in both forms, or as JSON alone if it cannot be had in the other.
func formsOf(js []byte) []form {
	forms := []form{{jsonType, js}}
	if text, err := yaml.JSONToYAML(js); err == nil {
		forms = append(forms, form{yamlType, text})
	}
	return forms
}

// keywords are the rules that must have refused something.
var keywords = []string{
	"type", "required", "enum", "pattern", "format", "minimum", "maximum", "multipleOf", "minLength", "maxLength", "minItems", "maxItems",
	"minProperties", "maxProperties", "anyOf", "oneOf", "allOf", "not", "x-kubernetes-list-type", "x-kubernetes-embedded-resource",
	"exclusiveMinimum", "exclusiveMaximum", "x-kubernetes-int-or-string", "apiVersion", "kind", "metadata", "scale",
}

// compareCases sends the cases that are written by hand.
func (s *valueServer) compareCases(k *valueKind) {
	base := s.compareCreate(k, yamlType, caseDocument(valueCase{spec: valid}))
	require.NotNil(s, base)
	for _, c := range valueCases() {
		doc := caseDocument(c)
		js, err := yaml.YAMLToJSON(doc)
		require.NoError(s, err, c.name)
		failed := s.seen.failed
		for _, f := range []form{{jsonType, js}, {yamlType, doc}} {
			s.compareCreate(k, f.contentType, f.doc)
			base = s.compareStatus(k, f.contentType, base, member(js, "status"))
		}
		assert.Equal(s, failed, s.seen.failed, c.name)
	}
	for _, header := range []string{
		"apiVersion: garden.example.com/v1\nkind: Other\n", "apiVersion: garden.example.com/v2\nkind: Arbor\n", "apiVersion: example.com/v1\nkind: Arbor\n",
	} {
		doc := caseDocument(valueCase{spec: valid + ", tags: [a, a]"})
		s.compareCreate(k, yamlType, []byte(strings.Replace(string(doc), caseHeader, header, 1)))
	}
	for _, rule := range keywords {
		assert.NotZero(s, s.rules[rule], "%s refuses nothing", rule)
	}
	assert.Equal(s, map[string]int{otherVersion: 2}, s.seen.explained)
	assert.Greater(s, s.seen.invalid, 30)
	assert.Greater(s, s.seen.invalidUpdates, 18)
}

const caseHeader = "apiVersion: garden.example.com/v1\nkind: Arbor\n"

// caseDocument returns the object of a case, in YAML.
func caseDocument(c valueCase) []byte {
	meta := c.metadata
	if !strings.HasPrefix(meta, "name:") {
		meta = strings.TrimSuffix("name: thing, "+meta, ", ")
	}
	parts := []string{caseHeader + "metadata: {" + meta + "}"}
	if c.spec != "" {
		parts = append(parts, "spec: {"+c.spec+"}")
	}
	if status := c.status; status != "" {
		if !strings.HasPrefix(status, `"`) {
			status = "{" + status + "}"
		}
		parts = append(parts, "status: "+status)
	}
	return []byte(strings.Join(parts, "\n") + "\n")
}

// compareSource sends objects of a source, and statuses for those that are stored.
func (s *valueServer) compareSource(k *valueKind, source valueSource, objects int) {
	var stored map[string]any
	for seed := range uint64(objects) {
		seed += *fromFlag
		for _, f := range formsOf(source.object(seed)) {
			if created := s.compareCreate(k, f.contentType, f.doc); created != nil {
				stored = created
			}
			if stored == nil || source.status == nil || !k.version.HasStatus {
				continue
			}
			if status := source.status(seed); status != nil {
				stored = s.compareStatus(k, f.contentType, stored, status)
			}
		}
	}
}

// compareObjects sends objects of definitions that have all keywords.
func (s *valueServer) compareObjects(kinds ...*valueKind) {
	for _, k := range kinds {
		s.compareSource(k, sampled(k.crd, k.version), *valuesFlag/6)
	}
	assert.Greater(s, s.seen.invalid, s.seen.creates/3)
	assert.Greater(s, s.seen.invalidUpdates, s.seen.updates/5)
	assert.Greater(s, s.seen.warned, s.seen.creates/50)
	assert.Greater(s, s.seen.stored, s.seen.creates/20)
}

// compareRandom sends objects of random definitions.
func (s *valueServer) compareRandom() {
	objects := max(20, *valuesFlag/6/100)
	var kinds []*valueKind
	var seeds []uint64
	for n := *fromFlag; len(kinds) < *valuesFlag/6/objects; n++ {
		crd := laws.RandomDefinition(rand.New(rand.NewPCG(n, 33)))
		crd.Group = fmt.Sprintf("r%d.example.com", n)
		if v := &crd.Versions[0]; v.HasStatus { // then the root may have no other rules
			v.Schema = &schema.Structural{Type: v.Schema.Type, Properties: v.Schema.Properties, Required: v.Schema.Required}
		}
		if validation.CRD(crd) == nil {
			kinds, seeds = append(kinds, s.define(manifestOf(s.T, crd))...), append(seeds, n)
		}
	}
	for i, k := range s.await(kinds) {
		s.compareSource(k, grown(k.crd, seeds[i]), objects)
	}
	assert.Greater(s, s.seen.invalid, s.seen.creates/4)
	assert.Greater(s, s.seen.updates, s.seen.creates/40)
}

// manifestOf writes a definition with one version.
func manifestOf(t *testing.T, crd *schema.CRD) []byte {
	t.Helper()
	v := crd.Versions[0]
	subresources := object{}
	if v.HasStatus {
		subresources["status"] = object{}
	}
	if s := v.Scale; s != nil {
		scale := object{"specReplicasPath": s.SpecReplicasPath, "statusReplicasPath": s.StatusReplicasPath}
		if s.LabelSelectorPath != nil {
			scale["labelSelectorPath"] = *s.LabelSelectorPath
		}
		subresources["scale"] = scale
	}
	js, err := json.Marshal(object{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": object{"name": crd.Plural + "." + crd.Group},
		"spec": object{
			"group": crd.Group, "scope": crd.Scope, "names": object{"kind": crd.Kind, "plural": crd.Plural},
			"versions": []object{{"name": v.Name, "served": true, "storage": true, "subresources": subresources, "schema": object{"openAPIV3Schema": v.Schema}}},
		},
	})
	require.NoError(t, err)
	return js
}

// compareGateways sends the resources of gateway-api in the corpus, with mistakes, and others of
// their kinds. Many of its rules are in CEL.
func (s *valueServer) compareGateways() {
	const project = "kubernetes-sigs__gateway-api__"
	var kinds []*valueKind
	for f := range corpus.CRDs(s.T) { // skips the test if there are none
		if strings.Contains(f.Name, project) {
			kinds = append(kinds, s.define(f.Data)...)
		}
	}
	if len(kinds) == 0 {
		s.Skip("skipped: the corpus has no definitions of gateway-api")
	}
	s.await(kinds)
	for f := range corpus.Samples(s.T) {
		if !strings.Contains(f.Name, project) {
			continue
		}
		for doc := range yamlbridge.Documents(f.Data) {
			js, err := yamlbridge.AppendJSON(nil, doc.Bytes)
			require.NoError(s, err)
			apiVersion, kind, err := decoder.PeekType(js)
			require.NoError(s, err)
			for _, k := range kinds {
				if k.crd.Kind == kind && k.crd.Group+"/"+k.version.Name == apiVersion {
					s.compareCreate(k, yamlType, doc.Bytes)
				}
			}
		}
	}
	for _, k := range kinds {
		s.compareSource(k, sampled(k.crd, k.version), *valuesFlag/6/len(kinds))
	}
	assert.NotZero(s, s.seen.explained[celRules])
	assert.Greater(s, s.seen.creates-s.seen.invalid, 40)
}

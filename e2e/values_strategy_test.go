package e2e

import (
	"context"
	"net/http"
	"slices"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/endpoints/handlers"
	apirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/generic"
	apirest "k8s.io/apiserver/pkg/registry/rest"
	"sigs.k8s.io/yaml"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/kube"
)

// prepared is the server's strategy. In a struct with a kube.Validator, its methods are one level
// deeper, so that those of the validator count.
type prepared struct{ apirest.RESTCreateStrategy }

// A creating strategy is the server's, but for the validation of what is created.
type creating struct {
	prepared
	*kube.Validator
}

// A statusUpdating strategy is the server's, but for the validation of a status. It excuses nothing.
type statusUpdating struct {
	apirest.RESTUpdateStrategy
	values *kube.Validator
}

func (s statusUpdating) ValidateUpdate(ctx context.Context, obj, _ runtime.Object) field.ErrorList {
	return s.values.ValidateStatus(ctx, obj)
}

// serveValues returns a handler that creates objects, and updates their status, with a validator in
// the strategies of the registry.
func (h *handler) serveValues(values *kube.Validator) http.Handler {
	store := h.storage.CustomResource.Store
	store.CreateStrategy = creating{prepared{store.CreateStrategy}, values}
	statuses, scope := *store, h.scope
	statuses.UpdateStrategy = statusUpdating{h.status, values}
	scope.Subresource = "status"
	create, update := handlers.CreateResource(store, &h.scope, nil), handlers.UpdateResource(&statuses, &scope, nil)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if info, _ := apirequest.RequestInfoFrom(r.Context()); info.Subresource == "status" {
			update(w, r)
			return
		}
		create(w, r)
	})
}

// compareStrategy sends the same requests to the server and to a handler in whose strategies our
// validator is in place of the server's, with the same storage.
func (s *valueServer) compareStrategy(k *valueKind, storage generic.RESTOptionsGetter) {
	values, err := kube.NewValidator(k.manifest, k.version.Name, kube.Limits(decoder.Limits{Findings: 1 << 20, FindingBytes: 1 << 30}))
	require.NoError(s, err)
	h := newHandler(s.T, k.manifest, storage)
	ours := *s
	ours.client = newEndpoint(s.T, "strategy", serveHandler(s.T, h.serveValues(values))).client

	stored := s.compareCreate(k, yamlType, caseDocument(valueCase{spec: valid}))
	require.NotNil(s, stored)
	both := func(invalid *int, n named, send func(to *valueServer) judgement) {
		theirs, answer := send(s), send(&ours)
		theirs.settleName(n, s.seen)
		answer.settleName(n, s.seen)
		s.compareAnswers(theirs, answer)
		if theirs.code == http.StatusUnprocessableEntity {
			*invalid++
		}
	}
	compare := func(contentType string, doc, status []byte) {
		n := namedIn(doc)
		namespace := n.Namespace
		if namespace == "" {
			namespace = "strategy"
		}
		s.seen.creates++
		both(&s.seen.invalid, n, func(to *valueServer) judgement {
			return to.send(http.MethodPost, k.path(namespace, ""), contentType, doc, false)
		})
		if status == nil {
			return
		}
		s.seen.updates++
		both(&s.seen.invalidUpdates, named{}, func(to *valueServer) judgement {
			return to.update(k, jsonType, stored, withStatus(s.T, stored, status), false)
		})
	}
	for _, c := range valueCases() {
		js, err := yaml.YAMLToJSON(caseDocument(c))
		require.NoError(s, err, c.name)
		compare(jsonType, js, member(js, "status"))
	}
	source := sampled(k.crd, k.version)
	for seed := range uint64(*valuesFlag / 12) {
		seed += *fromFlag
		for _, f := range formsOf(source.object(seed)) {
			compare(f.contentType, f.doc, source.status(seed))
		}
	}
	assert.Greater(s, s.seen.invalid, s.seen.creates/4)
	assert.Greater(s, s.seen.invalidUpdates, s.seen.updates/5)
	assert.Greater(s, s.seen.warned, 0)
}

// compareAnswers compares whole answers, but for the order of errors.
func (s *valueServer) compareAnswers(theirs, ours judgement) {
	s.Helper()
	s.seen.warned += min(len(theirs.warnings), 1)
	s.seen.errors += len(theirs.causes)
	require.Equal(s, theirs.code, ours.code, "%v\n%v", theirs.status, ours.status)
	require.True(s, s.sameWarnings(theirs, ours, theirs.causes), "they: %q\nwe:   %q", theirs.warnings, ours.warnings)
	if theirs.code != http.StatusUnprocessableEntity {
		return
	}
	require.Equal(s, headOf(theirs.status), headOf(ours.status))
	if slices.ContainsFunc(theirs.causes, isOfKind) && !equal(theirs.causes, ours.causes) {
		s.seen.explained[otherKind]++ // the validator does not go on where metadata within it is malformed
		return
	}
	require.Equal(s, sorted(theirs.causes), sorted(ours.causes))
}

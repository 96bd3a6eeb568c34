package request_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	ferrors "github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/request"
)

// Problem details say where each kind of error is.
func TestFaultsOfProblems(t *testing.T) {
	at := ferrors.Position{Offset: 7, Line: 2, Column: 3, ByteColumn: 3}
	path := ferrors.Path{}.Child("spec").Child("a/b")
	finding := ferrors.Finding{Kind: ferrors.TypeMismatch, Path: path, Position: at, Want: "string", Got: "number"}
	for name, c := range map[string]struct {
		err    error
		detail string
	}{
		"types":  {&ferrors.TypeError{Findings: ferrors.List{finding}}, finding.Error()},
		"object": {&ferrors.ObjectError{Msg: "kind is missing", Path: path, Position: at}, "kind is missing"},
		"limit":  {&ferrors.LimitError{Limit: ferrors.LimitDepth, Max: 5, Path: path, Position: at}, (&ferrors.LimitError{Limit: ferrors.LimitDepth, Max: 5, Path: path, Position: at}).Error()},
	} {
		answer := (&request.StatusError{Code: 400, Reason: "BadRequest", Message: "no", Err: c.err}).Answer(true)
		var problem struct {
			Errors []struct {
				Detail, Pointer string
				Line, Column    int
			}
		}
		require.NoError(t, json.Unmarshal(answer.Body, &problem))
		require.Len(t, problem.Errors, 1, name)
		got := problem.Errors[0]
		assert.Equal(t, []any{c.detail, "/spec/a~1b", 2, 3}, []any{got.Detail, got.Pointer, got.Line, got.Column}, name)
	}
}

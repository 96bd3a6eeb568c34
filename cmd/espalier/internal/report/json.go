package report

import (
	"bufio"
	"io"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/finding"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/sanitize"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/jsonv2"
)

// reportVersion is the apiVersion of the report in JSON. It changes if readers of the old one
// would be misled.
const reportVersion = "report.espalier.dev/v1"

// A jsonReporter writes one JSON object with all findings. Lines and characters count from 1,
// and end is after the last character.
type jsonReporter struct {
	to  *bufio.Writer
	enc *jsonv2.Encoder
}

type (
	jsonPosition struct {
		Line   int `json:"line"`
		Column int `json:"column"`
	}
	jsonPlace struct {
		File string `json:"file"`
		jsonPosition
	}
	jsonObject struct {
		APIVersion string `json:"apiVersion,omitzero"`
		Kind       string `json:"kind,omitzero"`
		Namespace  string `json:"namespace,omitzero"`
		Name       string `json:"name,omitzero"`
	}
	jsonFinding struct {
		File       string        `json:"file"`
		Document   int           `json:"document,omitzero"`
		Start      *jsonPosition `json:"start,omitzero"`
		End        *jsonPosition `json:"end,omitzero"`
		Severity   string        `json:"severity"`
		Rule       string        `json:"rule"`
		Message    string        `json:"message"`
		Path       string        `json:"path,omitzero"`
		Pointer    string        `json:"pointer,omitzero"`
		Suggestion string        `json:"suggestion,omitzero"`
		Type       string        `json:"type,omitzero"`
		ServerText string        `json:"serverText,omitzero"`
		Definition *jsonPlace    `json:"definition,omitzero"`
		Old        *jsonPlace    `json:"old,omitzero"`
		First      *jsonPosition `json:"first,omitzero"`
		Template   string        `json:"template,omitzero"`
		Object     jsonObject    `json:"object,omitzero"`
	}
	jsonSummary struct {
		Files    int `json:"files"`
		Objects  int `json:"objects"`
		Skipped  int `json:"skipped"`
		Compared int `json:"compared,omitzero"`
		Errors   int `json:"errors"`
		Warnings int `json:"warnings"`
		// Objects that have no schema, parts of objects, and files that were not examined.
		Unchecked int `json:"unchecked,omitzero"`
		Parts     int `json:"parts,omitzero"`
		NoObjects int `json:"filesWithoutObjects,omitzero"`
		Templates int `json:"templates,omitzero"`
		Charts    int `json:"charts,omitzero"`
		// Objects whose rules in CEL were not evaluated, as they have values that are not there yet.
		RulesOff int `json:"rulesNotEvaluated,omitzero"`
		// Suppressed findings and excluded files are only counted.
		Suppressed int `json:"suppressed,omitzero"`
		Excluded   int `json:"excluded,omitzero"`
	}
)

func place(p errors.Position) *jsonPosition {
	if !p.IsValid() {
		return nil
	}
	return &jsonPosition{p.Line, p.Column}
}

// inFile returns a place, or nil if it is unknown.
func inFile(p finding.Place) *jsonPlace {
	if !p.At.IsValid() {
		return nil
	}
	return &jsonPlace{p.File, *place(p.At)}
}

func newJSONReporter(to io.Writer) *jsonReporter {
	w := bufio.NewWriter(to)
	return &jsonReporter{w, jsonv2.NewEncoder(w, jsonv2.Multiline(true), jsonv2.WithIndent("  "), jsonv2.AllowInvalidUTF8(true), jsonv2.PreserveRawStrings(true))}
}

func (r *jsonReporter) Begin() error {
	return r.tokens(jsonv2.BeginObject, jsonv2.String("apiVersion"), jsonv2.String(reportVersion),
		jsonv2.String("kind"), jsonv2.String("Report"), jsonv2.String("findings"), jsonv2.BeginArray)
}

func (r *jsonReporter) tokens(tokens ...jsonv2.Token) error {
	for _, t := range tokens {
		if err := r.enc.WriteToken(t); err != nil {
			return err
		}
	}
	return nil
}

func (r *jsonReporter) Add(file string, v *finding.Outcome) error {
	for i := range v.Findings {
		f := &v.Findings[i]
		path, pointer := f.Path()
		typ, text := "", ""
		if f.Invalid != nil {
			typ, text = finding.Type(f.Invalid), f.Invalid.Error()
		}
		one, err := sanitize.JSON(jsonFinding{
			File: file, Document: v.Document, Start: place(f.At), End: place(f.End),
			Severity: f.Severity.String(), Rule: f.Rule, Message: sanitize.Text(f.Message), Path: path, Pointer: pointer,
			Suggestion: f.Suggestion, First: place(f.First), Template: v.Rendered,
			Type: typ, ServerText: text, Definition: inFile(f.Definition), Old: inFile(f.Old),
			Object: jsonObject{v.APIVersion, v.Kind, v.Namespace, v.Name},
		})
		if err == nil {
			err = r.enc.WriteValue(one)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *jsonReporter) End(s *Summary) error {
	if err := r.tokens(jsonv2.EndArray, jsonv2.String("summary")); err != nil {
		return err
	}
	if err := jsonv2.MarshalEncode(r.enc, jsonSummary{
		s.Files, s.Objects, s.Skipped, s.Compared, s.Errors, s.Warnings,
		s.Unchecked, s.Parts, s.NoObjects, s.Templates, len(s.Charts), s.RulesOff, s.Suppressed, s.Excluded,
	}); err != nil {
		return err
	}
	if err := r.tokens(jsonv2.EndObject); err != nil {
		return err
	}
	return r.to.Flush()
}

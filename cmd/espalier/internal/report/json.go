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
		First      *jsonPosition `json:"first,omitzero"`
		Object     jsonObject    `json:"object,omitzero"`
	}
	jsonSummary struct {
		Files    int `json:"files"`
		Objects  int `json:"objects"`
		Skipped  int `json:"skipped"`
		Errors   int `json:"errors"`
		Warnings int `json:"warnings"`
	}
)

func place(p errors.Position) *jsonPosition {
	if !p.IsValid() {
		return nil
	}
	return &jsonPosition{p.Line, p.Column}
}

// definition returns where the definition asks for another value.
func definition(f *finding.Finding) *jsonPlace {
	if !f.Definition.At.IsValid() {
		return nil
	}
	return &jsonPlace{f.Definition.File, *place(f.Definition.At)}
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
			Suggestion: f.Suggestion, First: place(f.First),
			Type: typ, ServerText: text, Definition: definition(f),
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
	if err := jsonv2.MarshalEncode(r.enc, jsonSummary{s.Files, s.Objects, s.Skipped, s.Errors, s.Warnings}); err != nil {
		return err
	}
	if err := r.tokens(jsonv2.EndObject); err != nil {
		return err
	}
	return r.to.Flush()
}

package diffreport

import (
	"github.com/espalier-dev/espalier/cmd/espalier/internal/finding"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/sanitize"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/schemadiff"
	"github.com/espalier-dev/espalier/internal/jsonv2"
)

type (
	jsonReport struct {
		APIVersion  string           `json:"apiVersion"`
		Kind        string           `json:"kind"`
		Definitions []jsonDefinition `json:"definitions"`
		Summary     jsonSummary      `json:"summary"`
	}
	jsonDefinition struct {
		Name    string       `json:"name"`
		Changes []jsonChange `json:"changes"`
	}
	jsonChange struct {
		Severity string     `json:"severity"`
		Rule     string     `json:"rule"`
		Version  string     `json:"version,omitzero"`
		From     string     `json:"fromVersion,omitzero"`
		Stored   bool       `json:"stored,omitzero"`
		Path     string     `json:"path,omitzero"`
		Message  string     `json:"message"`
		Old      *jsonPlace `json:"old,omitzero"`
		New      *jsonPlace `json:"new,omitzero"`
	}
	jsonPlace struct {
		File   string `json:"file"`
		Line   int    `json:"line,omitzero"`
		Column int    `json:"column,omitzero"`
	}
	jsonSummary struct {
		Definitions int `json:"definitions"`
		Changed     int `json:"changed"`
		NotCompared int `json:"notCompared,omitzero"`
		Data        int `json:"data"`
		Client      int `json:"client"`
		Caution     int `json:"caution"`
		Harmless    int `json:"harmless"`
	}
)

// JSON returns all changes as one object.
func (r *Report) JSON() ([]byte, error) {
	report := jsonReport{
		APIVersion: "report.espalier.dev/v1", Kind: "SchemaDiff", Definitions: []jsonDefinition{},
		Summary: jsonSummary{
			len(r.Definitions), r.Changed(), r.NotCompared,
			r.Count(schemadiff.Data), r.Count(schemadiff.Client), r.Count(schemadiff.Caution), r.Count(schemadiff.Harmless),
		},
	}
	for _, d := range r.Definitions {
		one := jsonDefinition{d.Name, []jsonChange{}}
		for i := range d.Changes {
			c := &d.Changes[i]
			one.Changes = append(one.Changes, jsonChange{
				c.Severity.String(), c.Rule, c.Version, c.From, c.Stored, c.Path.String(), sanitize.Text(c.Message),
				inFile(c.OldPlace), inFile(c.NewPlace),
			})
		}
		report.Definitions = append(report.Definitions, one)
	}
	js, err := sanitize.JSON(report)
	if err == nil {
		js, err = jsonv2.AppendFormat(nil, js, jsonv2.Multiline(true), jsonv2.WithIndent("  "), jsonv2.PreserveRawStrings(true))
	}
	return append(js, '\n'), err
}

func inFile(p finding.Place) *jsonPlace {
	if p.File == "" {
		return nil
	}
	return &jsonPlace{p.File, p.At.Line, p.At.Column}
}

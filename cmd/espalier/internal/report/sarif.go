package report

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/url"
	"path/filepath"
	"runtime/debug"
	"slices"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/finding"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/sanitize"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/jsonv2"
)

// A sarifReporter writes a log in the Static Analysis Results Interchange Format,
// version 2.1.0 (OASIS, https://docs.oasis-open.org/sarif/sarif/v2.1.0/).
type sarifReporter struct {
	to  *bufio.Writer
	enc *jsonv2.Encoder
}

// rulesPage has the rules, each with its anchor.
const rulesPage = "https://github.com/espalier-dev/espalier/blob/main/docs/check.md"

const sarifSchema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

type (
	sarifText struct {
		Text string `json:"text"`
	}
	sarifRule struct {
		ID               string    `json:"id"`
		ShortDescription sarifText `json:"shortDescription"`
		FullDescription  sarifText `json:"fullDescription"`
		HelpURI          string    `json:"helpUri"`
		Help             sarifText `json:"help"`
	}
	sarifDriver struct {
		Name            string      `json:"name"`
		SemanticVersion string      `json:"semanticVersion,omitzero"`
		InformationURI  string      `json:"informationUri"`
		Rules           []sarifRule `json:"rules"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn"`
		EndLine     int `json:"endLine,omitzero"`
		EndColumn   int `json:"endColumn,omitzero"`
	}
	sarifPhysical struct {
		ArtifactLocation sarifArtifact `json:"artifactLocation"`
		Region           *sarifRegion  `json:"region,omitzero"`
	}
	sarifLogical struct {
		FullyQualifiedName string `json:"fullyQualifiedName"`
		Kind               string `json:"kind"`
	}
	sarifLocation struct {
		ID               int            `json:"id,omitzero"`
		PhysicalLocation sarifPhysical  `json:"physicalLocation"`
		LogicalLocations []sarifLogical `json:"logicalLocations,omitempty"`
		Message          *sarifText     `json:"message,omitzero"`
	}
	// A sarifSuppression is of the kinds inSource and external (section 3.35).
	sarifSuppression struct {
		Kind          string `json:"kind"`
		Justification string `json:"justification,omitzero"`
	}
	sarifResult struct {
		RuleID              string            `json:"ruleId"`
		RuleIndex           int               `json:"ruleIndex"`
		Level               string            `json:"level"`
		Message             sarifText         `json:"message"`
		Locations           []sarifLocation   `json:"locations"`
		RelatedLocations    []sarifLocation   `json:"relatedLocations,omitempty"`
		PartialFingerprints map[string]string `json:"partialFingerprints"`
		// Suppressions is empty for results that are reported, so that those that are absent were
		// not forgotten: either all results have it, or none (section 3.27.23).
		Suppressions []sarifSuppression `json:"suppressions"`
	}
)

func newSARIFReporter(to io.Writer) *sarifReporter {
	w := bufio.NewWriter(to)
	return &sarifReporter{w, jsonv2.NewEncoder(w, jsonv2.Multiline(true), jsonv2.WithIndent("  "), jsonv2.AllowInvalidUTF8(true), jsonv2.PreserveRawStrings(true))}
}

func (r *sarifReporter) Begin() error {
	driver := sarifDriver{Name: "espalier", InformationURI: "https://github.com/espalier-dev/espalier"}
	if info, ok := debug.ReadBuildInfo(); ok && len(info.Main.Version) > 1 && info.Main.Version[0] == 'v' {
		driver.SemanticVersion = info.Main.Version[1:]
	}
	for _, rule := range finding.Rules {
		driver.Rules = append(driver.Rules, sarifRule{rule.ID, sarifText{rule.About}, sarifText{rule.About + " " + rule.Why}, rulesPage + "#" + rule.Anchor(), sarifText{rule.Help}})
	}
	if err := r.tokens(jsonv2.BeginObject, jsonv2.String("$schema"), jsonv2.String(sarifSchema),
		jsonv2.String("version"), jsonv2.String("2.1.0"), jsonv2.String("runs"), jsonv2.BeginArray,
		jsonv2.BeginObject, jsonv2.String("tool")); err != nil {
		return err
	}
	if err := jsonv2.MarshalEncode(r.enc, sarifTool{driver}); err != nil {
		return err
	}
	return r.tokens(jsonv2.String("columnKind"), jsonv2.String("unicodeCodePoints"), jsonv2.String("results"), jsonv2.BeginArray)
}

func (r *sarifReporter) tokens(tokens ...jsonv2.Token) error {
	for _, t := range tokens {
		if err := r.enc.WriteToken(t); err != nil {
			return err
		}
	}
	return nil
}

func (r *sarifReporter) Add(file string, v *finding.Outcome) error {
	for _, found := range [][]finding.Finding{v.Findings, v.Suppressed} {
		for i := range found {
			result, err := sanitize.JSON(sarifResultOf(file, v, &found[i]))
			if err == nil {
				err = r.enc.WriteValue(result)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func sarifResultOf(file string, v *finding.Outcome, f *finding.Finding) sarifResult {
	artifact := sarifArtifact{fileURI(file)}
	at := sarifLocation{PhysicalLocation: sarifPhysical{artifact, region(f.At, f.End)}}
	path, pointer := f.Path()
	message := f.Message
	if of := v.Identity.String(); of != "" {
		message += " (" + of + ")"
		at.LogicalLocations = []sarifLogical{{of, "object"}}
		if path != "" {
			at.LogicalLocations = append(at.LogicalLocations, sarifLogical{of + ": " + path, "member"})
		}
	}
	if f.Old.At.IsValid() {
		message += " (replaces " + f.Old.String() + ")"
	}
	result := sarifResult{
		RuleID:    f.Rule,
		RuleIndex: slices.IndexFunc(finding.Rules, func(r finding.Rule) bool { return r.ID == f.Rule }),
		Level:     f.Severity.String(),
		Message:   sarifText{sanitize.Text(message)},
		Locations: []sarifLocation{at},
		// The fingerprint stays the same when the finding moves within the file.
		PartialFingerprints: map[string]string{"finding/v1": fingerprint(f.Rule, v.APIVersion, v.Kind, v.Namespace, v.Name, pointer, f.Message)},
	}
	if s := f.Suppression; s != nil {
		kind := "external"
		if s.InSource {
			kind = "inSource"
		}
		result.Suppressions = []sarifSuppression{{kind, sanitize.Text(s.Reason)}}
	}
	if f.Rule == finding.RuleMissingSchema { // its message counts objects
		result.PartialFingerprints["finding/v1"] = fingerprint(f.Rule, v.APIVersion, v.Kind, v.Namespace, v.Name)
	}
	if f.First.IsValid() {
		result.RelatedLocations = []sarifLocation{{ID: 1,
			PhysicalLocation: sarifPhysical{artifact, region(f.First, errors.Position{})}, Message: &sarifText{"first here"}}}
		result.PartialFingerprints["finding/v1"] = fingerprint(f.Rule, v.APIVersion, v.Kind, v.Namespace, v.Name, pointer)
	}
	if f.Definition.At.IsValid() {
		in := sarifArtifact{fileURI(f.Definition.File)}
		result.RelatedLocations = append(result.RelatedLocations, sarifLocation{
			ID:               len(result.RelatedLocations) + 1,
			PhysicalLocation: sarifPhysical{in, region(f.Definition.At, errors.Position{})},
			Message:          &sarifText{"the rule in the definition"},
		})
	}
	return result
}

func region(at, end errors.Position) *sarifRegion {
	if !at.IsValid() {
		return nil
	}
	r := &sarifRegion{StartLine: at.Line, StartColumn: at.Column}
	if end.IsValid() {
		r.EndLine, r.EndColumn = end.Line, end.Column
	}
	return r
}

// fileURI returns the reference to a file: relative to the working folder, unless the name is
// absolute.
func fileURI(name string) string {
	u := url.URL{Path: filepath.ToSlash(name)}
	if filepath.IsAbs(name) {
		u.Scheme = "file"
	}
	return u.String()
}

func fingerprint(parts ...string) string {
	h := sha256.New()
	for _, part := range parts {
		h.Write([]byte(part))
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

func (r *sarifReporter) End(*Summary) error {
	if err := r.tokens(jsonv2.EndArray, jsonv2.EndObject, jsonv2.EndArray, jsonv2.EndObject); err != nil {
		return err
	}
	return r.to.Flush()
}

// Package corpus loads the data that tests, benchmarks and fuzz targets share.
//
// There are three kinds of data. The project's own cases are txtar files under testdata, written
// for people; [Load] reads them. Third-party data (definitions, custom resources, and the suites of
// others for JSON and YAML) stays where it was checked out, outside the repository. [Dir] finds it,
// and tests that need it are skipped if it is not there. Seeds are inputs that fuzzing has found.
// Each fuzz target has a file of them, which [AddSeeds] reads.
//
// # Cases
//
// A file is one case. The comment on top says what the case shows and where the rule comes from.
// The sections hold the data.
//
//	schema.yaml    the value of openAPIV3Schema
//	options        lines "key: value", see below; optional
//	in.json        the document
//	in.yaml        the document as YAML; in.json is read as YAML, too
//	want.json      the result, compared as a value
//	findings       the findings in in.json, one errors.Finding.Detail a line;
//	               if the section is empty there must be none, and if it is
//	               absent they are not checked
//	findings.yaml  the same for in.yaml
//	error          for documents without a result: a line "kind: syntax" (or
//	               limit, type or object), one "at: 1:7" for its line and
//	               column, and lines that the message must contain
//
// A section for one semantics only has its name before the extension, or at the end:
// want.kubernetes.json, want.kep.json, findings.kep, error.kep. It takes precedence over the
// general section.
//
// The option "semantics" is both (the default: kubernetes and kep), or lists those that the case is
// for: kubernetes, kep, server (Kubernetes' semantics under decoder.ServerRequests) and storage
// (under decoder.ServerStorage). "root" is resource (the default) or value. "kind: optional" is for
// objects that have no kind under server or storage. "yaml: no" is for documents that are JSON
// only, "again: no" for results that a decoder refuses. "total: N" is the number of findings with
// those beyond the limits.
//
// The names of cases in the folder "adversarial" start with their numbers in the project's table of
// adversarial inputs, such as "50-51-fields": see [Case.Rows].
//
// Several documents can share a schema. Sections in a folder, such as "null/in.json", are a case of
// their own. It takes the sections that it lacks from those without a folder.
//
// Text that a person cannot read (long, deep, or not UTF-8) is spelled in parts. A section
// "in.json.parts" has one Go string literal a line. After the literal, "x N" repeats it N times; %d
// in it is then the count, from 0.
package corpus

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The names of the semantics that cases are for: those of programs, and those of decoders in a
// server mode.
const (
	Kubernetes = "kubernetes"
	KEP        = "kep"
	Server     = "server"
	Storage    = "storage"
)

var semanticsNames = []string{Kubernetes, KEP, Server, Storage}

// A Case is a document, a schema, and the result of decoding the one under the other.
type Case struct {
	// Name is the path of the file under testdata without its extension, followed by the folder of
	// the case in the file, if it has one: "prune/array/items".
	Name string
	// File is the path of the file, for messages.
	File string
	// Comment is the text on top of the file.
	Comment string
	// Schema is the schema, in YAML.
	Schema []byte
	// Semantics lists the semantics that the case is for.
	Semantics []string
	// ValueRoot says that the root of the schema is not a resource.
	ValueRoot bool
	// JSON and YAML are the forms of the document. A form that the case lacks is nil.
	JSON, YAML []byte
	// KindOptional says that the object may have no kind where others must.
	KindOptional bool
	// JSONOnly says that JSON is not to be read as YAML.
	JSONOnly bool
	// Once says that the result is not to be decoded again.
	Once bool
	// Total is the number of findings including the omitted ones, or -1.
	Total int

	sections map[string][]byte
}

// A Failure is what a case says of the error for a document without a result.
type Failure struct {
	Kind     string   // "syntax", "limit", "type", "object", or "" for any
	At       string   // line and column, such as "1:7", or "" for any
	Contains []string // parts of the message
}

// Want returns the result under the semantics, as JSON.
func (c *Case) Want(semantics string) (want []byte, ok bool) {
	return c.section("want."+semantics+".json", "want.json")
}

// Findings returns the findings under the semantics, one a line, in the document of the given form:
// "json" or "yaml".
func (c *Case) Findings(semantics, form string) (details []string, ok bool) {
	names := []string{"findings." + semantics, "findings"}
	if form == "yaml" {
		names = []string{"findings.yaml." + semantics, "findings.yaml"}
	}
	text, ok := c.section(names...)
	return lines(text), ok
}

// Failure returns what the case says of the error under the semantics, or nil if there must be a
// result.
func (c *Case) Failure(semantics string) *Failure {
	text, ok := c.section("error."+semantics, "error")
	if _, special := c.sections["want."+semantics+".json"]; !ok || special {
		return nil
	}
	f := new(Failure)
	for _, line := range lines(text) {
		if kind, ok := strings.CutPrefix(line, "kind: "); ok {
			f.Kind = kind
		} else if at, ok := strings.CutPrefix(line, "at: "); ok {
			f.At = at
		} else {
			f.Contains = append(f.Contains, line)
		}
	}
	return f
}

// Rows returns the numbers that the last element of the name starts with.
func (c *Case) Rows() (rows []int) {
	for part := range strings.SplitSeq(path.Base(c.Name), "-") {
		row, err := strconv.Atoi(part)
		if err != nil {
			break
		}
		rows = append(rows, row)
	}
	return rows
}

func (c *Case) section(names ...string) ([]byte, bool) {
	for _, name := range names {
		if text, ok := c.sections[name]; ok {
			return text, true
		}
	}
	return nil, false
}

// topics are the folders of testdata that hold cases. Other folders have txtar files with sections
// of their own.
var topics = []string{"adversarial", "default", "findings", "kep-2332", "kep-575", "metadata", "prune", "regress"}

// Load returns the cases in the files under testdata whose path without ".txtar" matches one of the
// patterns, in the order of their names. A pattern is one of path.Match, such as "prune/*", or
// "*/*" for all cases. A pattern without a file is an error.
func Load(tb testing.TB, patterns ...string) []Case {
	tb.Helper()
	root := filepath.Join(moduleRoot(tb), "testdata")
	var cases []Case
	for _, pattern := range patterns {
		files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)+".txtar"))
		if err != nil {
			tb.Fatal(err)
		}
		files = slices.DeleteFunc(files, func(file string) bool {
			return !slices.Contains(topics, filepath.Base(filepath.Dir(file)))
		})
		if len(files) == 0 {
			tb.Fatalf("no cases match testdata/%s.txtar", pattern)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				tb.Fatal(err)
			}
			rel, err := filepath.Rel(root, file)
			if err != nil {
				tb.Fatal(err)
			}
			more, err := Parse(filepath.ToSlash(rel), data)
			if err != nil {
				tb.Fatal(err)
			}
			cases = append(cases, more...)
		}
	}
	return cases
}

// Parse returns the cases of one file, in the order of their folders.
func Parse(file string, data []byte) ([]Case, error) {
	archive := ParseArchive(data)
	folders := map[string]map[string][]byte{}
	for _, f := range archive.Sections {
		folder, name := path.Split(f.Name)
		text := f.Data
		if spelled, ok := strings.CutSuffix(name, ".parts"); ok {
			var err error
			if text, err = expand(f.Data); err != nil {
				return nil, fmt.Errorf("%s: %s: %w", file, f.Name, err)
			}
			name = spelled
		}
		if !isSection(name) {
			return nil, fmt.Errorf("%s: unknown section %s", file, f.Name)
		}
		if folders[folder] == nil {
			folders[folder] = map[string][]byte{}
		}
		if folders[folder][name] != nil {
			return nil, fmt.Errorf("%s: section %s stands twice", file, f.Name)
		}
		folders[folder][name] = text
	}
	names := slices.Sorted(maps.Keys(folders))
	if len(names) > 1 {
		names = slices.DeleteFunc(names, func(s string) bool { return s == "" })
	}
	var cases []Case
	for _, folder := range names {
		sections := maps.Clone(folders[""])
		if sections == nil {
			sections = map[string][]byte{}
		}
		maps.Copy(sections, folders[folder])
		c := Case{
			Name:     path.Join(strings.TrimSuffix(file, ".txtar"), folder),
			File:     file,
			Comment:  string(bytes.TrimSpace(archive.Comment)),
			Schema:   sections["schema.yaml"],
			JSON:     sections["in.json"],
			YAML:     sections["in.yaml"],
			Total:    -1,
			sections: sections,
		}
		if err := c.complete(); err != nil {
			return nil, fmt.Errorf("%s: %w", c.Name, err)
		}
		cases = append(cases, c)
	}
	return cases, nil
}

// isSection reports whether the format has a section of this name. A misspelled one must not pass
// for an absent one.
func isSection(name string) bool {
	switch name {
	case "schema.yaml", "options", "in.json", "in.yaml", "want.json", "findings", "findings.yaml", "error":
		return true
	}
	for _, semantics := range semanticsNames {
		switch name {
		case "want." + semantics + ".json", "findings." + semantics, "findings.yaml." + semantics, "error." + semantics:
			return true
		}
	}
	return false
}

// complete reads the options and checks that the case can be run.
func (c *Case) complete() error {
	c.Semantics = []string{Kubernetes, KEP}
	for _, line := range lines(c.sections["options"]) {
		var err error
		switch key, value, _ := strings.Cut(line, ": "); {
		case line == "semantics: both" || line == "root: resource":
		case key == "semantics":
			c.Semantics = strings.Fields(value)
			for _, name := range c.Semantics {
				if !slices.Contains(semanticsNames, name) {
					return fmt.Errorf("unknown semantics %q", name)
				}
			}
		case line == "root: value":
			c.ValueRoot = true
		case line == "kind: optional":
			c.KindOptional = true
		case line == "yaml: no":
			c.JSONOnly = true
		case line == "again: no":
			c.Once = true
		case key == "total":
			if c.Total, err = strconv.Atoi(value); err != nil {
				return err
			}
		default:
			return fmt.Errorf("unknown option %q", line)
		}
	}
	if c.Comment == "" {
		return fmt.Errorf("no comment says what the case shows")
	}
	if c.Schema == nil || c.JSON == nil && c.YAML == nil {
		return fmt.Errorf("no schema.yaml, or neither in.json nor in.yaml")
	}
	for _, semantics := range c.Semantics {
		if _, ok := c.Want(semantics); !ok && c.Failure(semantics) == nil {
			return fmt.Errorf("neither a result nor an error is expected under %s", semantics)
		}
	}
	return nil
}

// expand returns a text that is spelled in parts.
func expand(spelled []byte) ([]byte, error) {
	text := []byte{}
	for _, line := range lines(spelled) {
		literal, rest, times := line, "", 1
		if q, err := strconv.QuotedPrefix(line); err == nil {
			literal, rest = q, strings.TrimSpace(line[len(q):])
		}
		part, err := strconv.Unquote(literal)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", line, err)
		}
		if rest != "" {
			n, ok := strings.CutPrefix(rest, "x ")
			if times, err = strconv.Atoi(n); !ok || err != nil {
				return nil, fmt.Errorf("%s: want a string and x N", line)
			}
		}
		if times == 1 || !strings.Contains(part, "%d") {
			text = append(text, strings.Repeat(part, times)...)
			continue
		}
		for i := range times {
			text = append(text, strings.ReplaceAll(part, "%d", strconv.Itoa(i))...)
		}
	}
	return text, nil
}

// lines returns the lines of a section that are not blank.
func lines(text []byte) []string {
	all := strings.Split(string(text), "\n")
	return slices.DeleteFunc(all, func(s string) bool { return strings.TrimSpace(s) == "" })
}

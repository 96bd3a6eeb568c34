// Package baseline keeps known findings in a file that only shrinks. An entry
// has no line, so that a finding stays known when the text around it changes.
package baseline

import (
	"bytes"
	"cmp"
	stderrors "errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/finding"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/replace"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/sanitize"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/strictfile"
	"github.com/espalier-dev/espalier/schema"
)

const (
	version = "baseline.espalier.dev/v1"
	// maxBytes is the limit for the length of the file.
	maxBytes = 16 << 20
	stdin    = "<stdin>"
)

// An Entry is a known finding, or several of the same place.
type Entry struct {
	File   string `json:"file"` // relative to the baseline, with slashes
	Rule   string `json:"rule"`
	Object string `json:"object,omitzero"`
	Path   string `json:"path,omitzero"`
	Count  int    `json:"count,omitzero"`
}

// place returns the entry without its count.
func (e Entry) place() Entry {
	e.Count = 0
	return e
}

// A Baseline has the known findings of a run.
type Baseline struct {
	name   string
	dir    string         // absolute
	isNew  bool           // the file is written with the findings of this run
	counts map[Entry]int  // by place
	found  map[Entry]int  // those that were suppressed in this run
	partly map[Entry]bool // files, and kinds of objects in files, that were not examined
}

func fileSchema() *schema.Structural {
	text := &schema.Structural{Type: "string"}
	return &schema.Structural{Type: "object", Properties: map[string]*schema.Structural{
		"apiVersion": text, "kind": text,
		"findings": strictfile.ListOf(&schema.Structural{Type: "object", Properties: map[string]*schema.Structural{
			"file": text, "rule": text, "object": text, "path": text, "count": {Type: "integer"},
		}}),
	}}
}

// Create returns a baseline of the findings of this run, whose file must not exist.
func Create(name string) (*Baseline, error) {
	if _, err := os.Lstat(name); err == nil {
		return nil, fmt.Errorf("%s: exists, and a baseline only shrinks: --update-baseline removes what is gone; to take all findings for known, remove the file first", name)
	} else if !stderrors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	b, err := empty(name)
	if err == nil {
		b.isNew = true
	}
	return b, err
}

func empty(name string) (*Baseline, error) {
	path, err := filepath.Abs(name)
	return &Baseline{name: name, dir: filepath.Dir(path), counts: map[Entry]int{}, found: map[Entry]int{}, partly: map[Entry]bool{}}, err
}

// Read returns the baseline in a file.
func Read(name string) (*Baseline, error) {
	var content struct {
		APIVersion string  `json:"apiVersion"`
		Kind       string  `json:"kind"`
		Findings   []Entry `json:"findings"`
	}
	err := strictfile.Read(name, maxBytes, fileSchema(), &content)
	switch {
	case stderrors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s: there is no such file: --write-baseline makes it", name)
	case err != nil:
		return nil, err
	case content.APIVersion != version || content.Kind != "Baseline":
		return nil, fmt.Errorf("%s: is no baseline: apiVersion must be %s, and kind Baseline", name, version)
	}
	b, err := empty(name)
	for i, e := range content.Findings {
		switch {
		case e.File == "" || e.Rule == "":
			return nil, fmt.Errorf("%s: findings[%d]: file or rule is missing", name, i)
		case e.Count < 1 || e.Count > maxBytes:
			return nil, fmt.Errorf("%s: findings[%d]: count must be at least 1 and at most %d", name, i, maxBytes)
		}
		b.counts[e.place()] += e.Count
	}
	return b, err
}

// file returns the name of a file in entries.
func (b *Baseline) file(name string) string {
	if name == "-" || name == stdin {
		return stdin
	}
	path, err := filepath.Abs(name)
	if err == nil {
		if below, err := filepath.Rel(b.dir, path); err == nil {
			path = below
		}
	}
	return sanitize.Name(filepath.ToSlash(path))
}

// Suppress suppresses the findings in an object that are known. Of several in one place, those
// beyond the count stay.
func (b *Baseline) Suppress(name string, v *finding.Outcome) {
	file := b.file(name)
	b.notExamined(file, v)
	object := v.Identity.String()
	v.Suppress(func(f *finding.Finding) *finding.Suppression {
		path, _ := f.Path()
		e := Entry{File: file, Rule: f.Rule, Object: object, Path: sanitize.Text(path)}
		if !b.isNew && b.found[e] == b.counts[e] {
			return nil
		}
		b.found[e]++
		return &finding.Suppression{Reason: "in the baseline " + b.name}
	})
}

// notExamined notes that findings in an object, or in a whole file, are not known in this run.
func (b *Baseline) notExamined(file string, v *finding.Outcome) {
	kind := sanitize.Name(v.Kind) // the name of an object without findings may not have been read
	switch {
	case v.IsTemplate, v.NoObject:
		b.partly[Entry{File: file}] = true
	case v.Skipped, v.Unchecked:
		b.partly[Entry{File: file, Object: kind}] = true
	}
	for _, f := range slices.Concat(v.Findings, v.Suppressed) {
		switch {
		case f.Rule == finding.RuleMissingSchema:
			b.partly[Entry{File: file, Object: kind}] = true
		case f.Fatal:
			b.partly[Entry{File: file}] = true
		}
	}
}

// isExamined reports whether findings of an entry were looked for, if its file was checked.
func (b *Baseline) isExamined(e Entry) bool {
	kind, _, _ := strings.Cut(e.Object, " ")
	return !b.partly[Entry{File: e.File}] && !b.partly[Entry{File: e.File, Object: kind}]
}

// Gone returns the entries whose findings have gone, with the counts that are too many. Only what
// was looked for in files that were checked as a whole can be gone; and what was in files that do
// not exist any more.
func (b *Baseline) Gone(names []string, looks func(rule string) bool) (gone []Entry) {
	checked := map[string]bool{}
	for _, name := range names {
		checked[b.file(name)] = true
	}
	exists := map[string]bool{}
	for e, count := range b.counts {
		e.Count = count - b.found[e]
		if e.Count == 0 || !b.isExamined(e) {
			continue
		}
		if _, known := exists[e.File]; !known {
			_, err := os.Lstat(filepath.Join(b.dir, filepath.FromSlash(e.File)))
			exists[e.File] = e.File == stdin || !stderrors.Is(err, fs.ErrNotExist)
		}
		if !exists[e.File] || checked[e.File] && looks(e.Rule) {
			gone = append(gone, e)
		}
	}
	slices.SortFunc(gone, compare)
	return gone
}

func compare(a, b Entry) int {
	return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Object, b.Object), cmp.Compare(a.Path, b.Path))
}

// Finding returns the finding about entries that are gone.
func Finding(gone []Entry) finding.Finding {
	first := gone[0]
	text := "1 entry silences nothing any more: " + first.String() + ": remove it with --update-baseline"
	if len(gone) > 1 {
		text = fmt.Sprintf("%d entries silence nothing any more, such as %s: remove them with --update-baseline", len(gone), first)
	}
	return finding.Finding{Severity: finding.Warning, Rule: finding.RuleUnused, Message: text}
}

// String describes the entry in a message.
func (e Entry) String() string {
	text := e.Rule + " in " + e.File
	for _, part := range []string{e.Path, e.Object} {
		if part != "" {
			text += ", " + part
		}
	}
	return text
}

// Write writes the file of a new baseline, and returns the number of its entries.
func (b *Baseline) Write() (entries int, err error) {
	// The name is taken first, with the mode that the umask allows, and not through a link.
	f, err := os.OpenFile(b.name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return 0, err
	}
	f.Close()
	if err := b.replace(b.found); err != nil {
		return 0, stderrors.Join(err, os.Remove(b.name))
	}
	return len(b.found), nil
}

// Remove writes the file without entries that are gone. It adds none.
func (b *Baseline) Remove(gone []Entry) error {
	if info, err := os.Lstat(b.name); err != nil {
		return err
	} else if info.Mode()&fs.ModeSymlink != 0 {
		return fmt.Errorf("%s: is a link, and a baseline is not written through one: name the file that it leads to", b.name)
	}
	for _, e := range gone {
		if b.counts[e.place()] -= e.Count; b.counts[e.place()] == 0 {
			delete(b.counts, e.place())
		}
	}
	return b.replace(b.counts)
}

// replace replaces the content of the file. Each entry has a line, so that a difference shows entries.
func (b *Baseline) replace(counts map[Entry]int) error {
	var all []Entry
	for e, count := range counts {
		e.Count = count
		all = append(all, e)
	}
	slices.SortFunc(all, compare)
	text := bytes.NewBufferString("# Findings that espalier check knows, and does not report. espalier check\n# --update-baseline removes those that are gone.\napiVersion: " + version + "\nkind: Baseline\nfindings:")
	if len(all) == 0 {
		text.WriteString(" []")
	}
	text.WriteString("\n")
	for _, e := range all {
		line, err := sanitize.JSON(e)
		if err != nil {
			return err
		}
		fmt.Fprintf(text, "- %s\n", line)
	}
	if text.Len() > maxBytes {
		return fmt.Errorf("%s: would be longer than the limit of %d bytes: check fewer files, or silence rules for paths in the configuration", b.name, maxBytes)
	}
	return replace.All(b.name, text.Bytes())
}

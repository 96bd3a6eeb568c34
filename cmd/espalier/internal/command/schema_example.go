package command

import (
	"cmp"
	stderrors "errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/config"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/finding"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/flagvalue"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/report"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/sanitize"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/schemas"
	"github.com/espalier-dev/espalier/internal/jsonv2"
	"github.com/espalier-dev/espalier/sample"
	"github.com/espalier-dev/espalier/schema"
)

func newSchemaExampleCommand(p *process) *cobra.Command {
	x := example{options: newOptions(p, "strict"), output: flagvalue.Choice{Value: "commented", Values: []string{"commented", "yaml", "json"}}}
	cmd := &cobra.Command{
		Use:                   "example --crd FILE|DIR... [APIVERSION] KIND",
		DisableFlagsInUseLine: true,
		Short:                 "Make an object of a kind, with comments from its schema",
		Long: `Example makes an object that the schema of its kind allows. It has all fields, as far
as they do not exclude each other, but no status, where that is a subresource; or with
--smallest only those that must be there.
Values are examples or defaults of the schema, if it has some. The comments have the
descriptions of the fields, and the values that the schema allows.

Without APIVERSION the object has the version that is stored, if that is served, or the
newest one that is served. Rules in CEL are not evaluated: if there are any, example
says so, and the comments have them.

Exit codes: 0 if an object was written; 1 if no valid object was found; 2 if the
arguments are wrong; 3 if something could not be read or written.`,
		Example: `  # What can be in a BackupPlan, and what must be?
  espalier schema example --crd crds/ BackupPlan
  espalier schema example --crd crds/ --smallest -o yaml BackupPlan

  # The same for a version, and for a built-in kind.
  espalier schema example --crd crds/ backup.example.com/v1 BackupPlan
  espalier schema example --openapi apps.json Deployment`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := config.Apply(cmd.Flags(), x.config); err != nil {
				return err
			}
			if err := x.needSchemas(); err != nil {
				return err
			}
			s, ok := x.load(nil)
			if !ok {
				return nil
			}
			entries := entriesFor(s.Kinds, args)
			if len(entries) == 0 {
				return noSchemaFor(args)
			}
			entry, err := preferred(s.Kinds, entries)
			if err == nil {
				x.write(entry)
			}
			return err
		},
	}
	x.addSchemaFlags(cmd)
	cmd.Flags().BoolVar(&x.smallest, "smallest", false, "make the smallest object, with required fields alone")
	flagvalue.Add(cmd, &x.output, "output", "o", "output format: YAML with comments, YAML, or indented JSON")
	return cmd
}

// An example is what the command is to make.
type example struct {
	*options
	smallest bool
	output   flagvalue.Choice
}

// write makes an object and writes it.
func (x *example) write(entry schema.Entry) {
	maker, err := sample.Of(entry.CRD, entry.Version.Name)
	var object []byte
	if err == nil {
		object, err = x.object(maker)
	}
	if err != nil {
		x.code = max(x.code, ExitFindings)
		sanitize.WriteErrors(x.stderr, fmt.Errorf("%s: %s, kind %s: %w", entry.CRD.File, entry.APIVersion, entry.Kind, err))
		return
	}
	if n := celRules(entry.Version.Schema); n > 0 {
		fmt.Fprintf(x.stderr, "not evaluated: %s in CEL (x-kubernetes-validations), which the object may break\n", finding.Count(n, "rule"))
	}
	text, err := x.format(maker, object)
	if err == nil {
		err = report.WriteAll(x.stdout, text)
	}
	if err != nil {
		x.fail(fmt.Errorf("writing the output: %w", err))
	}
}

// object makes the object that was asked for. The error says which rule no value was found for.
func (x *example) object(maker *sample.Maker) ([]byte, error) {
	find := maker.Full
	if x.smallest {
		find = maker.Smallest
	}
	object, err := find()
	if err == nil {
		return object, nil
	}
	why := strings.TrimPrefix(err.Error(), "sample: ")
	if _, err := maker.Smallest(); err == nil {
		why += "; --smallest finds one"
	}
	return nil, stderrors.New(why)
}

// format returns the text of an object in the format that was asked for.
func (x *example) format(maker *sample.Maker, object []byte) ([]byte, error) {
	switch x.output.Value {
	case "commented":
		return maker.Commented(object)
	case "yaml":
		return sample.YAML(object)
	}
	js, err := sanitize.JSON(jsonv2.Value(object))
	if err == nil {
		js, err = jsonv2.AppendFormat(nil, js, jsonv2.Multiline(true), jsonv2.WithIndent("  "), jsonv2.PreserveRawStrings(true))
	}
	return append(js, '\n'), err
}

// preferred returns the entry whose version is stored, or else the newest one, of those that are
// served. It is an error if there are none, or if they are of several groups.
func preferred(kinds *schemas.Kinds, entries []schema.Entry) (schema.Entry, error) {
	served := slices.DeleteFunc(slices.Clone(entries), func(e schema.Entry) bool { return !e.Version.Served })
	if len(served) == 0 {
		_, err := kinds.Lookup(entries[0].APIVersion, entries[0].Kind) // it knows what is served instead
		return schema.Entry{}, err
	}
	best := slices.MinFunc(served, func(a, b schema.Entry) int {
		if a.Version.Storage != b.Version.Storage {
			return map[bool]int{true: -1, false: 1}[a.Version.Storage]
		}
		return newestFirst(a.Version.Name, b.Version.Name)
	})
	for _, e := range served {
		if e.CRD.Group != best.CRD.Group {
			return best, fmt.Errorf("there are schemas for %s in several groups: name the version, too, as in %s %s, or see espalier schema list", e.Kind, best.APIVersion, e.Kind)
		}
	}
	return best, nil
}

var kubernetesVersion = regexp.MustCompile(`^v([1-9][0-9]*)(?:(alpha|beta)([1-9][0-9]*))?$`)

// newestFirst compares versions as the API server orders them for its clients: v2, v1, v1beta1,
// v1alpha2, and then other names (k8s.io/apimachinery/pkg/version).
func newestFirst(a, b string) int {
	rank := func(name string) (isOther, stability, major, minor int) {
		m := kubernetesVersion.FindStringSubmatch(name)
		if m == nil {
			return 1, 0, 0, 0
		}
		major, _ = strconv.Atoi(m[1])
		minor, _ = strconv.Atoi(m[3])
		return 0, map[string]int{"": 2, "beta": 1}[m[2]], major, minor
	}
	otherA, stabilityA, majorA, minorA := rank(a)
	otherB, stabilityB, majorB, minorB := rank(b)
	return cmp.Or(otherA-otherB, stabilityB-stabilityA, cmp.Compare(majorB, majorA), cmp.Compare(minorB, minorA), strings.Compare(a, b))
}

// celRules counts the rules in CEL of a schema, which may contain itself.
func celRules(s *schema.Structural) int {
	met := make(map[*schema.Structural]bool)
	rules := 0
	var count func(s *schema.Structural)
	count = func(s *schema.Structural) {
		if s == nil || met[s] {
			return
		}
		met[s] = true
		rules += len(s.XValidations)
		for _, p := range s.Properties {
			count(p)
		}
		if s.AdditionalProperties != nil {
			count(s.AdditionalProperties.Schema)
		}
		if s.Items != nil {
			count(s.Items.Schema)
		}
	}
	count(s)
	return rules
}

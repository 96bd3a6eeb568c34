package definition

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/schema"
)

// Faults returns why the API server refuses the names of a definition, beyond the faults that
// validation.CRD reports. They are in the order of ValidateCustomResourceDefinition in
// k8s.io/apiextensions-apiserver v0.37. Faults does not check short names, categories, conversion,
// columns and selectable fields.
func Faults(c *schema.CRD) (faults errors.SchemaErrors) {
	add := func(kind errors.SchemaErrorKind, field, value, msg string) {
		faults = append(faults, &errors.SchemaError{Kind: kind, Field: field, Value: value, Msg: msg})
	}
	required := func(field, value string) {
		if value == "" {
			add(errors.SchemaRequired, field, "", "")
		}
	}
	label := func(field, value, lower, msg string) {
		if value != "" && !isLabel(lower) {
			add(errors.SchemaInvalid, field, strconv.Quote(value), msg+labelRule)
		}
	}
	switch {
	case c.Name == "":
		add(errors.SchemaRequired, "metadata.name", "", "name or generateName is required")
	case c.Name != c.Plural+"."+c.Group:
		add(errors.SchemaInvalid, "metadata.name", strconv.Quote(c.Name), `must be spec.names.plural+"."+spec.group`)
	case !isSubdomain(c.Name):
		add(errors.SchemaInvalid, "metadata.name", strconv.Quote(c.Name), subdomainRule)
	}
	switch {
	case c.Group == "": // validation.CRD reports it
	case !isSubdomain(c.Group):
		add(errors.SchemaInvalid, "spec.group", strconv.Quote(c.Group), subdomainRule)
	case !strings.Contains(c.Group, "."):
		add(errors.SchemaInvalid, "spec.group", strconv.Quote(c.Group), "should be a domain with at least one dot")
	}
	switch c.Scope {
	case "Cluster", "Namespaced":
	case "":
		add(errors.SchemaRequired, "spec.scope", "", "")
	default:
		add(errors.SchemaUnsupported, "spec.scope", strconv.Quote(c.Scope), `supported values: "Cluster", "Namespaced"`)
	}
	const mixed = "may have mixed case, but should otherwise match: "
	required("spec.names.plural", c.Plural)
	required("spec.names.singular", c.Singular)
	required("spec.names.listKind", c.ListKind)
	label("spec.names.plural", c.Plural, c.Plural, "")
	label("spec.names.singular", c.Singular, c.Singular, "")
	label("spec.names.kind", c.Kind, strings.ToLower(c.Kind), mixed)
	label("spec.names.listKind", c.ListKind, strings.ToLower(c.ListKind), mixed)
	if c.Kind != "" && c.Kind == c.ListKind {
		add(errors.SchemaInvalid, "spec.names.listKind", strconv.Quote(c.ListKind), "kind and listKind may not be the same")
	}
	return faults
}

// labelRule is the server's message for a name that is not a label, without its regular expression.
const labelRule = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', " +
	"start with an alphabetic character, and end with an alphanumeric character, and have at most 63 of them"

var (
	subdomain = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
	dnsLabel  = regexp.MustCompile(`^[a-z]([-a-z0-9]*[a-z0-9])?$`)
)

const subdomainRule = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', " +
	"start and end with an alphanumeric character, and have at most 253 of them"

// isSubdomain reports whether a name is a subdomain (RFC 1123).
func isSubdomain(name string) bool { return len(name) <= 253 && subdomain.MatchString(name) }

// isLabel reports whether a name is a label (RFC 1035).
func isLabel(name string) bool { return len(name) <= 63 && dnsLabel.MatchString(name) }

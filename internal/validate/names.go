package validate

import (
	"fmt"
	"strings"
)

// This file has the rules for names in metadata (k8s.io/apimachinery: pkg/api/validate/content,
// pkg/util/validation). Each is a function that returns the faults of a name.

const (
	dnsLabelPattern     = `[a-z0-9]([-a-z0-9]*[a-z0-9])?`
	dnsSubdomainPattern = dnsLabelPattern + `(\.` + dnsLabelPattern + `)*`
	dns1035Pattern      = `[a-z]([-a-z0-9]*[a-z0-9])?`
	labelKeyPattern     = `([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]`
	labelValuePattern   = `(` + labelKeyPattern + `)?`
)

var (
	dnsLabel     = matches("^" + dnsLabelPattern + "$")
	dnsSubdomain = matches("^" + dnsSubdomainPattern + "$")
	dns1035      = matches("^" + dns1035Pattern + "$")
	labelKey     = matches("^" + labelKeyPattern + "$")
	labelValue   = matches("^" + labelValuePattern + "$")
)

const labelKeyRule = "must consist of alphanumeric characters, '-', '_' or '.', " +
	"and must start and end with an alphanumeric character"

// mustMatch returns the message of a rule that is a pattern.
func mustMatch(rule, pattern string, examples ...string) string {
	eg := "'" + strings.Join(examples, "',  or '") + "', "
	return rule + " (e.g. " + eg + "regex used for validation is '" + pattern + "')"
}

func noLonger(n int) string { return fmt.Sprintf("must be no more than %d bytes", n) }

// noLongerLabel means bytes as well. It has other words because its rule is in another package.
const noLongerLabel = "must be no more than 63 characters"

func namespaceFaults(s string) (faults []string) {
	if len(s) > 63 {
		faults = append(faults, noLongerLabel)
	}
	switch {
	case dnsLabel(s):
	case dnsSubdomain(s):
		faults = append(faults, "must not contain dots")
	default:
		faults = append(faults, mustMatch("a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "+
			"and must start and end with an alphanumeric character", dnsLabelPattern, "my-name", "123-abc"))
	}
	return faults
}

// nameFaults returns the faults of the name of an object. part says that it is only the start of a
// name, and may end in a dash.
func nameFaults(s string, part bool) []string {
	if part && len(s) > 1 && strings.HasSuffix(s, "-") {
		s = s[:len(s)-2] + "a" // as maskTrailingDash does
	}
	return subdomainFaults(s, "must be no more than 253 characters")
}

// IsName reports whether a text can be the name of an object.
func IsName(s string) bool { return len(nameFaults(s, false)) == 0 }

func subdomainFaults(s, tooLong string) (faults []string) {
	if len(s) > 253 {
		faults = append(faults, tooLong)
	}
	if !dnsSubdomain(s) {
		faults = append(faults, mustMatch("a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, "+
			"'-' or '.', and must start and end with an alphanumeric character", dnsSubdomainPattern, "example.com"))
	}
	return faults
}

// LabelFaults returns why a text is not a label (RFC 1035), as kinds in lower case and the names of
// versions must be.
func LabelFaults(s string) (faults []string) {
	if len(s) > 63 {
		faults = append(faults, noLongerLabel)
	}
	if !dns1035(s) {
		faults = append(faults, mustMatch("a DNS-1035 label must consist of lower case alphanumeric characters or '-', "+
			"start with an alphabetic character, and end with an alphanumeric character", dns1035Pattern, "my-name", "abc-123"))
	}
	return faults
}

// labelKeyFaults returns the faults of a key of labels or annotations, or of a finalizer.
func labelKeyFaults(s string) (faults []string) {
	pattern := mustMatch(labelKeyRule, labelKeyPattern, "MyName", "my.name", "123-abc")
	prefix, name, hasPrefix := strings.Cut(s, "/")
	if !hasPrefix {
		name = s
	} else if strings.Contains(name, "/") {
		return []string{"a valid label key " + pattern + " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"}
	} else if prefix == "" {
		faults = append(faults, "prefix part must be non-empty")
	} else {
		for _, fault := range subdomainFaults(prefix, noLonger(253)) {
			faults = append(faults, "prefix part "+fault)
		}
	}
	if name == "" {
		faults = append(faults, "name part must be non-empty")
	} else if len(name) > 63 {
		faults = append(faults, "name part "+noLonger(63))
	}
	if !labelKey(name) {
		faults = append(faults, "name part "+pattern)
	}
	return faults
}

func labelValueFaults(s string) (faults []string) {
	if len(s) > 63 {
		faults = append(faults, noLonger(63))
	}
	if !labelValue(s) {
		faults = append(faults, mustMatch("a valid label must be an empty string or consist of alphanumeric characters, "+
			"'-', '_' or '.', and must start and end with an alphanumeric character",
			labelValuePattern, "MyValue", "my_value", "12345"))
	}
	return faults
}

// segmentFaults returns the faults of a name as a segment of a URL. part says that it is only the
// start of a name.
func segmentFaults(s string, part bool) (faults []string) {
	if !part && (s == "." || s == "..") {
		return []string{"may not be '" + s + "'"}
	}
	for _, c := range []string{"/", "%"} {
		if strings.Contains(s, c) {
			faults = append(faults, "may not contain '"+c+"'")
		}
	}
	return faults
}

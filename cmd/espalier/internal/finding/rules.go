package finding

// This file has the rules. They are the codes of findings: messages end with them in brackets,
// reports and suppressions name findings by them, and the lists in help texts, SARIF and
// docs/check.md are made of this table.

import "strings"

const (
	RuleUnknown       = "unknown-field"
	RuleDuplicate     = "duplicate-field"
	RuleType          = "type-mismatch"
	RuleFormat        = "invalid-format"
	RuleNull          = "dropped-null"
	RuleValue         = "invalid-value" // with a keyword: see ValueRule
	RuleWarning       = "server-warning"
	RuleOld           = "old-object"
	RuleMore          = "more-findings"
	RuleSeparator     = "missing-separator"
	RuleSyntax        = "syntax"
	RuleLimit         = "limit"
	RuleMissingSchema = "missing-schema"
	RuleMissingType   = "missing-type"
	RuleNothing       = "nothing-checked"
	RuleInvalidSchema = "invalid-schema"
	RuleDiffering     = "differing-definitions"
	RuleUnused        = "unused-suppression"
	RuleSuppression   = "invalid-suppression"
	RuleEdit          = "edit"
	RuleUnreadable    = "unreadable"
	RuleUnwritable    = "unwritable"
)

// A Rule is a kind of finding.
type Rule struct {
	ID    string
	About string // the finding
	Why   string // the reason for it, in the server or in this command
	Help  string // a remedy
	// Example is a part of an object that has the finding.
	Example string
	// Fixed means that findings cannot be suppressed: without a remedy nothing is known of the
	// object, or the finding is about a suppression itself.
	Fixed bool
}

// Anchor returns the anchor of the rule in docs/check.md.
func (r *Rule) Anchor() string { return "rule-" + strings.ReplaceAll(r.ID, "/", "-") }

// RuleOf returns the rule with a name, or nil.
func RuleOf(id string) *Rule {
	for i := range Rules {
		if Rules[i].ID == id {
			return &Rules[i]
		}
	}
	return nil
}

// RuleIDs returns the names of the rules.
func RuleIDs() (ids []string) {
	for i := range Rules {
		ids = append(ids, Rules[i].ID)
	}
	return ids
}

// Rules are all rules, in the order in which reports list them.
var Rules = append([]Rule{
	{
		ID:      RuleUnknown,
		About:   "A field that the schema does not declare: the API server drops it.",
		Why:     "The server prunes custom resources by their schemas (KEP-2332), and decodes built-in kinds into Go types, which have no place for other fields. Under strict field validation, for which kubectl asks, it refuses the object (KEP-2885).",
		Help:    "Remove the field, or correct its name or its place. If the schema should declare it, fix the definition.",
		Example: "spec:\n  replcas: 3 # the schema declares replicas",
	},
	{
		ID:      RuleDuplicate,
		About:   "A name that occurs twice in one object: the last value wins.",
		Why:     "The server's decoders keep the last value (sigs.k8s.io/json, sigs.k8s.io/yaml). Under strict field validation it refuses the object (KEP-2885).",
		Help:    "Remove all of the values but one.",
		Example: "spec:\n  suspend: true\n  suspend: false",
	},
	{
		ID:      RuleType,
		About:   "A value that is not of the JSON type that the schema gives: the API server refuses the object.",
		Why:     "Custom resources are validated by the types of their schemas (ValidateCustomResource of apiextensions-apiserver). Metadata and built-in kinds are decoded into Go types, which take no other values.",
		Help:    "Write a value of the type that the message names. In YAML, quotes make a string.",
		Example: "spec:\n  suspend: \"yes\" # the schema has type: boolean",
	},
	{
		ID:      RuleFormat,
		About:   "A time, quantity, number or text in base64 that the API server cannot decode: it refuses the object.",
		Why:     "The server decodes such values into Go types: metav1.Time, resource.Quantity, int32, []byte.",
		Help:    "Write the value in the form that the message names.",
		Example: "metadata:\n  creationTimestamp: yesterday",
	},
	{
		ID:      RuleNull,
		About:   "A null that the API server drops, as its field is neither nullable nor has a default.",
		Why:     "The server drops such nulls before it inserts defaults (PruneNonNullableNullsWithoutDefaults of apiextensions-apiserver).",
		Help:    "Remove the field.",
		Example: "spec:\n  schedule: null",
	},
	{
		ID:    RuleOld,
		About: "An object that cannot be compared with the one that it replaces, and is validated as a new one.",
		Why:   "The server validates an update beside the stored object: immutable fields, oldSelf in CEL (KEP-2876), invalid values that may stay (KEP-4008). Of several old objects of one name it is not known which is stored, and a webhook that converts cannot be asked.",
		Help:  "Name the files of one cluster alone, and objects of one version.",
	},
	{
		ID:    RuleMore,
		About: "Findings in an object beyond those that are listed.",
		Why:   "The number of findings in one object is limited, so that a broken one cannot fill the report.",
		Help:  "Correct the findings that are listed, and check the object again.",
		Fixed: true,
	},
	{
		ID:      RuleSeparator,
		About:   "Two objects in one document, only the last of which would be left: a --- is missing.",
		Why:     "A document is one object. The last of names that repeat wins, and so the first object vanishes.",
		Help:    "Write a line with --- between the objects.",
		Example: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}",
		Fixed:   true,
	},
	{
		ID:      RuleSyntax,
		About:   "A document that is not JSON or YAML, or that programs read differently.",
		Why:     "The server refuses text that its decoders cannot read (sigs.k8s.io/yaml, sigs.k8s.io/json). Text that readers of YAML 1.1 and 1.2 understand differently is refused because a later reader might see another object.",
		Help:    "Correct the text at this place.",
		Example: "spec: [",
		Fixed:   true,
	},
	{
		ID:    RuleLimit,
		About: "A document that is too large, too deep or too costly.",
		Why:   "The server limits the size and the depth of objects, and the work for aliases of YAML. Here limits also keep time and memory in proportion to the input.",
		Help:  "Divide the document into smaller ones.",
		Fixed: true,
	},
	{
		ID:    RuleMissingSchema,
		About: "An object of a kind without a known schema.",
		Why:   "A server without the definition refuses the object: no matches for kind. Without a schema, only names that are repeated can be found.",
		Help:  "Name the definition with --crd, or the OpenAPI document with --openapi; or accept the kind with --skip-kind.",
	},
	{
		ID:      RuleMissingType,
		About:   "An object without apiVersion or kind.",
		Why:     "The server finds the schema by these fields, and refuses an object without them.",
		Help:    "Write the apiVersion and the kind of the object. If the document is no object, accept it with --ignore-missing-schemas, or leave out its file with --exclude.",
		Example: "metadata:\n  name: a",
	},
	{
		ID:    RuleNothing,
		About: "A run in which no object was checked by a schema.",
		Why:   "Success would be proof of nothing: there were only templates, patches, settings or other files, or objects without a schema.",
		Help:  "Check what templates render to, or name definitions with --crd; --ignore-missing-schemas accepts such a run.",
		Fixed: true,
	},
	{
		ID:      RuleInvalidSchema,
		About:   "A custom resource definition whose schema the API server refuses.",
		Why:     "The server validates definitions when they are created or updated (ValidateCustomResourceDefinition of apiextensions-apiserver), and compiles their rules in CEL.",
		Help:    "Correct the definition at this place.",
		Example: "properties:\n  spec:\n    type: strnig",
	},
	{
		ID:      RuleDiffering,
		About:   "Definitions of one kind that differ: by which of them the API server decides is not known.",
		Why:     "A server has one definition of a kind. Where there are several, an object is accepted if one of them accepts it, and that may be a copy for tests that the server will never have.",
		Help:    "Name the definition that counts with --crd, or leave out the others with --exclude.",
		Example: "properties: {replicas: {type: integer}} # of one definition\n---\nproperties: {replicas: {type: string}} # of another one of the same kind",
	},
	{
		ID:      RuleUnused,
		About:   "A suppression that silences nothing: a comment, a rule for paths in the configuration, or entries of the baseline.",
		Why:     "A suppression that is left when its finding has gone would silence the next one.",
		Help:    "Remove the suppression. In a baseline, --update-baseline does it.",
		Example: "# espalier:ignore unknown-field -- the controller reads it\nreplicas: 3 # the schema declares it by now",
		Fixed:   true,
	},
	{
		ID:      RuleSuppression,
		About:   "A comment for Espalier that cannot be understood: findings stay.",
		Why:     "A reason is required, and rules are named, so that nobody silences more than is meant.",
		Help:    "Write # espalier:ignore RULE -- REASON. Without arguments, espalier explain lists the rules.",
		Example: "replcas: 3 # espalier:ignore unknown-field",
		Fixed:   true,
	},
	{
		ID:    RuleEdit,
		About: "A document that was not edited, or that keeps a comment, in a file that is edited in place.",
		Why:   "A file is edited only where the edited text has the same objects, and a comment may be code of a template.",
		Help:  "Edit the file at this place.",
		Fixed: true,
	},
	{
		ID:    RuleUnreadable,
		About: "A file that cannot be read.",
		Why:   "Nothing is known of the objects in it.",
		Help:  "Look at the file and its permissions.",
		Fixed: true,
	},
	{
		ID:    RuleUnwritable,
		About: "A file that cannot be written, or that somebody else changed meanwhile.",
		Why:   "A file is replaced as a whole, and only if it is the one that was read.",
		Help:  "Look at the file, and run the command again.",
		Fixed: true,
	},
}, valueRules...)

const (
	whySchema   = "The server validates custom resources by the keywords of their schemas before it stores them (ValidateCustomResource of apiextensions-apiserver)."
	whyRoot     = "The server finds the definition by it, and compares it with the request."
	helpBounds  = "Write a value within the bounds that the message names."
	helpJunctor = "Compare the value with the alternatives in the definition."
	helpDefined = "Write the value that the message names."
)

var valueRules = []Rule{
	{
		ID:      RuleWarning,
		About:   "Metadata that the API server accepts with a warning: the name of a finalizer, or owners that repeat.",
		Why:     "The server answers with a Warning header (KEP-1693), and may refuse such metadata one day.",
		Help:    "Write the name of a finalizer with a domain and a path, such as example.com/cleanup, and each owner once.",
		Example: "metadata:\n  finalizers: [cleanup.example.com]",
	},
	{
		ID:    RuleValue,
		About: "A value that the API server refuses.",
		Why:   whySchema,
		Help:  "Correct the value as the message says.",
	},
	{
		ID:      RuleValue + "/required",
		About:   "A field is absent that the schema requires.",
		Why:     whySchema + " Before that, it inserts defaults.",
		Help:    "Write the field.",
		Example: "spec: {} # the schema has required: [schedule]",
	},
	{
		ID:    RuleValue + "/type",
		About: "A value is of another type than the schema's, or not in the range of its type.",
		Why:   whySchema,
		Help:  "Write a value of the type that the message names.",
	},
	{
		ID:    RuleValue + "/x-kubernetes-int-or-string",
		About: "A value is neither an integer nor a string.",
		Why:   whySchema,
		Help:  "Write an integer or a string.",
	},
	{
		ID:      RuleValue + "/enum",
		About:   "A value is not one of those that the schema lists.",
		Why:     whySchema,
		Help:    "Write one of the values that the message lists.",
		Example: "compression: gzp # the schema has enum: [none, gzip, zstd]",
	},
	{
		ID:      RuleValue + "/pattern",
		About:   "A text does not match the regular expression of the schema.",
		Why:     whySchema,
		Help:    "Write a text that matches the expression in the message.",
		Example: "host: A_b # the schema has pattern: ^[a-z.-]+$",
	},
	{
		ID:      RuleValue + "/format",
		About:   "A value does not have the format of the schema.",
		Why:     whySchema + " It ignores formats that it does not know.",
		Help:    "Write the value in the format that the message names.",
		Example: "at: yesterday # the schema has format: date-time",
	},
	{
		ID:      RuleValue + "/minLength",
		About:   "A text is shorter than the schema allows.",
		Why:     whySchema,
		Help:    helpBounds,
		Example: "schedule: \"@\" # the schema has minLength: 9",
	},
	{
		ID:      RuleValue + "/maxLength",
		About:   "A text is longer than the schema allows.",
		Why:     whySchema,
		Help:    helpBounds,
		Example: "code: abcd # the schema has maxLength: 3",
	},
	{
		ID:      RuleValue + "/minimum",
		About:   "A number is less than the schema allows.",
		Why:     whySchema,
		Help:    helpBounds,
		Example: "daily: -1 # the schema has minimum: 0",
	},
	{
		ID:      RuleValue + "/exclusiveMinimum",
		About:   "A number is not greater than the bound of the schema.",
		Why:     whySchema,
		Help:    helpBounds,
		Example: "ratio: 0 # the schema has minimum: 0, exclusiveMinimum: true",
	},
	{
		ID:      RuleValue + "/maximum",
		About:   "A number is greater than the schema allows.",
		Why:     whySchema,
		Help:    helpBounds,
		Example: "percent: 101 # the schema has maximum: 100",
	},
	{
		ID:      RuleValue + "/exclusiveMaximum",
		About:   "A number is not less than the bound of the schema.",
		Why:     whySchema,
		Help:    helpBounds,
		Example: "ratio: 1 # the schema has maximum: 1, exclusiveMaximum: true",
	},
	{
		ID:      RuleValue + "/multipleOf",
		About:   "A number is not a multiple of the one in the schema.",
		Why:     whySchema,
		Help:    "Write a multiple of the number in the message.",
		Example: "memory: 100 # the schema has multipleOf: 64",
	},
	{
		ID:      RuleValue + "/minItems",
		About:   "An array has fewer elements than the schema allows.",
		Why:     whySchema,
		Help:    helpBounds,
		Example: "sources: [] # the schema has minItems: 1",
	},
	{
		ID:      RuleValue + "/maxItems",
		About:   "An array has more elements than the schema allows.",
		Why:     whySchema,
		Help:    helpBounds,
		Example: "sources: [a, b, c] # the schema has maxItems: 2",
	},
	{
		ID:    RuleValue + "/uniqueItems",
		About: "An array has equal elements.",
		Why:   whySchema,
		Help:  "Remove the repeated element.",
	},
	{
		ID:      RuleValue + "/minProperties",
		About:   "An object has fewer members than the schema allows.",
		Why:     whySchema,
		Help:    helpBounds,
		Example: "selector: {} # the schema has minProperties: 1",
	},
	{
		ID:      RuleValue + "/maxProperties",
		About:   "An object has more members than the schema allows.",
		Why:     whySchema,
		Help:    helpBounds,
		Example: "source: {git: a, oci: b} # the schema has maxProperties: 1",
	},
	{
		ID:      RuleValue + "/additionalProperties",
		About:   "An object has a member that the schema forbids.",
		Why:     whySchema,
		Help:    "Remove the member.",
		Example: "limits: {other: 1} # the schema has additionalProperties: false",
	},
	{
		ID:      RuleValue + "/allOf",
		About:   "A value does not match all schemas of allOf.",
		Why:     whySchema,
		Help:    helpJunctor,
		Example: "port: 0 # one of the schemas has minimum: 1",
	},
	{
		ID:      RuleValue + "/anyOf",
		About:   "A value matches no schema of anyOf.",
		Why:     whySchema,
		Help:    helpJunctor,
		Example: "source: {} # the schemas have required: [git], and required: [oci]",
	},
	{
		ID:      RuleValue + "/oneOf",
		About:   "A value matches no schema of oneOf, or several.",
		Why:     whySchema,
		Help:    helpJunctor,
		Example: "source: {git: a, oci: b} # the schemas have required: [git], and required: [oci]",
	},
	{
		ID:      RuleValue + "/not",
		About:   "A value matches a schema that it must not match.",
		Why:     whySchema,
		Help:    "Compare the value with the schema below not in the definition.",
		Example: "name: default # the schema has not: {enum: [default]}",
	},
	{
		ID:      RuleValue + "/x-kubernetes-list-type",
		About:   "Elements of a set are equal, or elements of a list with keys have the same keys.",
		Why:     "Clients merge such lists by their elements or keys, and so the server demands that these are unique (ValidateListSetsAndMaps of apiextensions-apiserver; KEP-555).",
		Help:    "Remove the repeated element, or change its keys.",
		Example: "ports: [{name: web}, {name: web}] # the schema has x-kubernetes-list-map-keys: [name]",
	},
	{
		ID:      RuleValue + "/x-kubernetes-validations",
		About:   "A rule in CEL refuses a value, or could not be evaluated.",
		Why:     "The server evaluates the rules of the schema after its other keywords (KEP-2876).",
		Help:    "Compare the value with the rule in the definition.",
		Example: "spec: {min: 3, max: 2} # the schema has the rule self.min <= self.max",
	},
	{
		ID:      RuleValue + "/metadata",
		About:   "Metadata that the API server refuses in every object: a name, a label, an annotation, a finalizer, an owner.",
		Why:     "The server validates the metadata of all kinds alike (ValidateObjectMeta of apimachinery).",
		Help:    "Correct the metadata as the message says.",
		Example: "metadata:\n  name: My_Plan",
	},
	{
		ID:    RuleValue + "/apiVersion",
		About: "The apiVersion is not that of the definition.",
		Why:   whyRoot,
		Help:  helpDefined,
	},
	{ID: RuleValue + "/kind", About: "The kind is not that of the definition.", Why: whyRoot, Help: helpDefined},
	{
		ID:      RuleValue + "/scale",
		About:   "A value that the scale subresource uses is not a number of replicas, or not a selector.",
		Why:     "The server answers requests for the scale subresource with these values, and validates them with the object.",
		Help:    "Write a number of replicas, or a selector as text.",
		Example: "spec:\n  replicas: -1",
	},
}

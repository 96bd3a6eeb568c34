// Package schema reads the schemas of custom resources and compiles them into
// programs that package decoder runs. Package schema/validation tells whether
// the Kubernetes API server would accept them.
//
//	s, err := schema.Parse(openAPIV3Schema)   // bytes to a tree
//	err = validation.Structural(s)            // is it structural?
//	p, err := schema.Compile(s)               // tree to program
//
// [ParseCRD] reads the schemas in CustomResourceDefinitions, and [CRD.Program]
// compiles one of them. A [Catalog] does both for whole folders of definitions.
// [Skeleton] derives a schema for pruning from a schema that is not structural.
//
// # Terminology
//
// A schema describes JSON values: it has a type, and value validations such as
// maximum or pattern. A schema for objects specifies fields under properties,
// each with a schema of its own. A schema for maps has one schema for all
// members, under additionalProperties. A schema for arrays has one schema for
// the elements, under items. The schemas that are reached from the root through
// these three keywords are the core. Schemas under the junctors allOf, anyOf,
// oneOf and not are value validations, and do not belong to the core.
//
// A schema is structural if its core alone says which values may be where:
// every node of the core has a type, or an extension in its place; junctors add
// nothing but value validations; and certain keywords of JSON Schema do not
// occur. Only structural schemas prune and default without ambiguity. The rules
// are those by which the API server admits definitions of
// apiextensions.k8s.io/v1. Package schema/validation applies them, with the
// server's messages.
//
// A resource is an object with apiVersion, kind and metadata. Every schema for
// resources specifies these three fields implicitly. An embedded resource is a
// resource within another.
//
// A field is what a schema specifies, and a name is what a document holds. To
// prune is to remove members whose names are not fields; to preserve is to keep
// them. To default is to insert a field that is absent, or that is null without
// being nullable.
//
// # Parse, validate, compile
//
// [Parse] is as liberal as the server's decoder: it drops members that it does
// not know, and treats null as absent. It refuses what the server would alter,
// such as a name that occurs twice in one object. The result is a plain tree of
// [Structural]. The tree can also hold what is not structural, can be changed,
// and is marshalled back to the JSON that it was read from.
//
// Validation is a step of its own because definitions in use were accepted by
// servers of many versions. It is a package of its own because the code that
// checks formats and patterns is as large as all the rest. [Compile] accepts
// every schema and looks at the core alone, as the server's pruning and
// defaulting do.
//
// A [Program] is a table. For each kind of place in a document it says what
// happens to each name. Policy is compiled into it: whether unknown fields are
// preserved, where pruning resumes, what becomes of a null, and the defaults,
// which are rendered, defaulted and pruned themselves. All of this is decided
// when the program is made. The decoder does not look at schemas at all.
// [Entry.Trace] follows one path through a program, and through its schema
// beside it, for tools that explain what a decoder did.
//
// # Semantics
//
// The documents that proposed pruning and defaulting differ from the server
// that was built. [Deployed], the default, does what the server does; [KEP]
// does what the documents say, which are KEP-2332 (pruning) and KEP-575
// (defaulting). Each row of the table is a case in which the two differ.
//
//	                               Deployed                  KEP
//	specified field of an object   pruned by its schema      preserved whole, unless its
//	that preserves unknown fields                            schema has properties
//	                                                         (KEP-2332, example 7)
//	value of additionalProperties  pruned by its schema      preserved whole, unless its
//	in such an object                                        schema has properties
//	                                                         (KEP-2332, example 9)
//	value of another type than     kept; validation decides  an error
//	the schema's                                             (KEP-2332, proposal 3)
//	null, not nullable, default    replaced by the default   kept
//	                                                         (KEP-575, example 3)
//	null, not nullable, no default dropped in objects, kept  kept
//	                               in arrays
//
// Under both, additionalProperties: false means the same as true: the names are
// kept, and the values below them are pruned. Validation refuses it.
//
// # Extensions
//
//   - x-kubernetes-preserve-unknown-fields: true keeps members that are not
//     specified, with everything in them. Pruning resumes in members that are
//     specified.
//   - x-kubernetes-embedded-resource: true specifies apiVersion, kind and
//     metadata implicitly, as at the root.
//   - x-kubernetes-int-or-string: true takes the place of a type.
//   - nullable: true keeps a null from being dropped or defaulted.
//   - x-kubernetes-list-type, x-kubernetes-list-map-keys, x-kubernetes-map-type
//     and x-kubernetes-validations are checked by package schema/validation and
//     have no effect on a program.
//   - x-kubernetes-no-prune is a proposal that was never built. Only [Skeleton]
//     knows it.
//
// # Definitions of v1beta1
//
// apiextensions.k8s.io/v1beta1 is no longer served. Manifests of it still
// exist, and so do servers with definitions that were made then. [ParseCRD]
// converts them to the form of v1. Their spec.preserveUnknownFields, which is
// true where it is absent, turns pruning off: a Catalog compiles them with
// [PreserveUnknownFields].
//
// # Skeletons
//
// The draft that preceded KEP-2332 proposed to prune by any OpenAPI v3
// validation schema, through a skeleton that is merged from the properties
// anywhere in it. The server requires instead that the core repeats these
// properties. The outcome is the same: for a schema that follows this rule the
// skeleton is the core. Use Skeleton for schemas that were not written for
// Kubernetes, or that are older than v1.
//
// # Concurrency
//
// A Program is immutable, and any number of goroutines can use it. The same is
// true of a Catalog: its methods Add, Replace, ReplaceAll and Remove can change
// it while other goroutines look things up. A Structural and a [CRD] are plain
// data: several goroutines may read one as long as none changes it. All
// functions of the package may be called concurrently.
//
// # Where the rules come from
//
//	the model of a schema, and what is dropped   JSONSchemaProps of apiextensions/v1, its UnmarshalJSON
//	v1beta1 into v1, its defaults                apiextensions-apiserver, pkg/apis/apiextensions/v1beta1, v1/conversion.go
//	pruning, defaulting, metadata                apiextensions-apiserver, pkg/apiserver/schema/{pruning,defaulting,objectmeta}
//	preserving under KEP                         KEP-2332, examples 6 to 11
//	defaults and nulls under KEP                 KEP-575, examples 1 to 4
//	skeletons                                    draft KEP "Pruning for Custom Resources", 2018
//
// The rules are those of Kubernetes 1.37.
package schema

// Package schema reads the schemas of custom resources and compiles them into
// programs that package decoder runs. Package schema/validation says whether the
// Kubernetes API server would accept them.
//
//	s, err := schema.Parse(openAPIV3Schema)   // bytes to a tree
//	err = validation.Structural(s)            // is it structural?
//	p, err := schema.Compile(s)               // tree to program
//
// [ParseCRD] reads the schemas out of CustomResourceDefinitions, [CRD.Program] compiles one, and a [Catalog]
// does all of this for whole folders of them. [Skeleton] makes a schema for
// pruning out of one that is not structural.
//
// # Terminology
//
// A schema says which JSON values are meant: it has a type, and value
// validations such as maximum or pattern. A schema for objects specifies fields,
// each with a schema of its own, under properties; or it is a schema for maps
// and has one schema for all members under additionalProperties. A schema for
// arrays has one for the elements under items. The schemas that are reached from
// the root through these three keywords are the core. Schemas under the junctors
// allOf, anyOf, oneOf and not are value validations and no core.
//
// A schema is structural if its core alone says what may be where: every node of
// the core has a type or an extension in its place, junctors add nothing but
// value validations, and some keywords of JSON Schema do not occur. Only such
// schemas can be pruned and defaulted by without ambiguity. The rules are those
// of the API server for the creation of a definition in
// apiextensions.k8s.io/v1; package schema/validation has them with the
// server's messages.
//
// A resource is an object with apiVersion, kind and metadata, which every schema
// for resources specifies implicitly. An embedded resource is one within
// another.
//
// A field is what a schema specifies, and a name is what a document holds. To
// prune is to remove members whose names are no fields; to preserve is not to.
// To default is to insert a field that is absent, or null without being
// nullable.
//
// # Parse, validate, compile
//
// [Parse] is as liberal as the server's decoder: members that it does not know
// are dropped, null is absent. What the server would mangle is refused, such as
// a name that stands twice in one object. The result is a plain tree of
// [Structural] that can also hold what is not structural, can be changed, and is
// marshalled back to the JSON it was read from.
//
// Validation is a step of its own because definitions that are in use were
// accepted by servers of many versions, and in a package of its own because what
// checks formats and patterns is as large as all the rest. [Compile] takes any schema and looks at
// the core alone, as the server's pruning and defaulting do.
//
// A [Program] is a table: for each kind of place in a document, what is to be
// done with each name. Policy is compiled into it. Whether unknown fields are
// preserved, where pruning starts again, what becomes of a null, and the
// defaults, rendered and themselves defaulted and pruned, are all decided when
// the program is made, and the decoder does not look at schemas at all.
//
// # Semantics
//
// The documents that proposed pruning and defaulting and the server that was
// built differ. [Deployed], the default, does what the server does; [KEP] does
// what the texts say. A row is a question; the texts are KEP-2332 (pruning) and
// KEP-575 (defaulting).
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
// In both, additionalProperties: false is the same as true: the names are kept,
// and what is below them is pruned. It is validation that refuses them.
//
// # Extensions
//
//   - x-kubernetes-preserve-unknown-fields: true keeps members that are not
//     specified, with all that is in them. Pruning starts again in those that
//     are.
//   - x-kubernetes-embedded-resource: true specifies apiVersion, kind and
//     metadata implicitly, as at the root.
//   - x-kubernetes-int-or-string: true takes the place of a type.
//   - nullable: true keeps a null from being dropped or defaulted.
//   - x-kubernetes-list-type, x-kubernetes-list-map-keys, x-kubernetes-map-type
//     and x-kubernetes-validations are checked by package schema/validation and
//     mean nothing to a program.
//   - x-kubernetes-no-prune is a proposal that was never built. Only [Skeleton]
//     knows it.
//
// # Definitions of v1beta1
//
// apiextensions.k8s.io/v1beta1 is no longer served, but there are manifests of
// it, and servers that hold definitions made then. [ParseCRD] brings them into
// the form of v1. Their spec.preserveUnknownFields, true where it is absent,
// turns pruning off; a Catalog compiles them with [PreserveUnknownFields].
//
// # Skeletons
//
// The draft that preceded KEP-2332 wanted to prune by any OpenAPI v3 validation
// schema, by a skeleton merged from the properties found anywhere in it. The
// server requires that they are repeated in the core instead, which comes to the
// same: for a schema that follows that rule the skeleton is the core. Use
// Skeleton for schemas that were not written for Kubernetes, or before v1.
//
// # Concurrency
//
// A Program is immutable and may be used by any number of goroutines. So may a
// Catalog, which its methods Add, Replace, ReplaceAll and Remove change while others look things up. A Structural and a [CRD] are
// plain data: they may be read by many and changed by one. All functions of the
// package may be called concurrently.
//
// # Where the rules come from
//
//	the model of a schema, and what is dropped   JSONSchemaProps of apiextensions/v1, its UnmarshalJSON
//	v1beta1 into v1, its defaults                apiextensions-apiserver, pkg/apis/apiextensions/v1beta1, v1/conversion.go
//	pruning, defaulting, metadata                apiextensions-apiserver, pkg/apiserver/schema/{pruning,defaulting,objectmeta}
//	preserving as the texts have it              KEP-2332, examples 6 to 11
//	defaults and nulls as the texts have them    KEP-575, examples 1 to 4
//	skeletons                                    draft KEP "Pruning for Custom Resources", 2018
//
// The release that is followed is Kubernetes 1.37.
package schema

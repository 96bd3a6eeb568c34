// Package validation tells whether the Kubernetes API server would accept a
// schema or a definition and, if not, why, with the server's messages, paths
// and order.
//
//	s, err := schema.Parse(openAPIV3Schema)
//	err = validation.Structural(s)   // the rules that the server enforces
//	warnings := validation.Warnings(s) // those that it does not
//
//	crds, err := schema.ParseCRD(manifest)
//	err = validation.CRD(crds[0])    // the schemas of all its versions, and what goes with them
//	err = validation.Update(crds[0], old) // the same for a definition that replaces another
//
// The package is separate from package schema because defaults are checked
// against formats and patterns. This needs the packages net, net/mail, net/url
// and regexp, which programs that only decode need not link.
//
// Schemas and definitions are only read. All functions may be called
// concurrently.
//
// # Where the rules come from
//
//	what is structural                           apiextensions-apiserver, pkg/apiserver/schema/validation.go, complete.go
//	further checks of schemas in definitions     apiextensions-apiserver, pkg/apis/apiextensions/validation
//	defaults                                     apiextensions-apiserver, pkg/apiserver/schema/defaulting
//	values, formats                              kube-openapi, pkg/validation
//	metadata in defaults                         apimachinery, pkg/api/validation
//
// The rules are those of Kubernetes 1.37. What the server says of rules in CEL
// is in the module cel, which links its packages: [RuleCompiler] is the way from
// here to there.
package validation

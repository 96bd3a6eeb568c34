// Package cel evaluates the rules of schemas, x-kubernetes-validations, as a
// kube-apiserver does. It is a module of its own, as it links CEL and packages
// of the API server.
//
// [Rules] is an option of [validation.Values]:
//
//	program, err := crd.Program("v1", validation.Values(cel.Rules()))
//
// Libraries, limits of cost, ratcheting and the texts of errors are those of
// Kubernetes 1.37, whose packages the module's go.mod names. Three things
// differ, where the server's verdict is not always the same:
//
//   - Rules are evaluated in the order of the names of fields, and a rule that
//     goes through the members of an object does so, too. So errors have an
//     order, and where the budget of all rules is exhausted, it is always the
//     same rule that is not evaluated.
//   - In the text of a mistake in a rule, the type of self has no random
//     number.
//   - The rules of a large object end after a minute: see [Timeout].
//
// # What it costs
//
// An expression takes some 0.3 ms to compile, once for all schemas that have it
// on a value of the same shape, as long as one of them is in use. Whoever asks
// what rules read ([validation.Rules].Selections) can leave out the rest of an
// object.
//
// The time to compile an expression has no limit but that on its length, as in
// the server: definitions of people who must not cost time should not be
// compiled. Nor can a single call be interrupted, such as that of a regular
// expression on a text of a megabyte.
package cel

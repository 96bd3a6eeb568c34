// Package fuzz holds Espalier against the code that a kube-apiserver decodes
// custom resources with. It is a module of its own, so that nothing else here
// depends on k8s.io.
//
//   - [Server] is the request decoder of the API server, for JSON and YAML, and the
//     one for what it has stored, put together from its packages: what is right is
//     what it says.
//   - [NewSchema] and [NewDocument] make schemas and documents from seeds,
//     deterministically, so that a difference is reproduced by a number.
//   - The tests compare verdicts and their reasons, values and findings of the two
//     for generated pairs and for real resources. What is meant to differ has a
//     name, is counted under it, and has a case in diff_test.go; all else is an
//     error.
//
// Numbers such as 3.3 group the server's rules: 1 is about schemas, 2 pruning, 3
// nulls and defaults, 4 metadata, 5 types, 6 findings, 7 JSON, 8 YAML, 10 the order
// of steps; 11 lists oddities.
package fuzz

// Package fuzz compares Espalier with the code by which a kube-apiserver decodes custom resources.
// It is a module of its own, so that nothing else here depends on k8s.io.
//
//   - [Server] has the request decoder of the API server, for JSON and YAML, and its decoder of
//     stored objects, both made of its packages. Its answers are right by definition.
//   - [NewSchema] and [NewDocument] make schemas and documents from seeds, deterministically, so
//     that a number reproduces a difference. Documents are objects of package sample, with mistakes
//     that only decoders care about. [RulesOf] says which rules a pair exercises.
//   - The tests compare verdicts and their reasons, values and findings of both sides, for
//     generated pairs and for real resources. An intended difference has a name, under which it is
//     counted, and a case in diff_test.go. Any other difference is an error.
//
// Numbers such as 3.3 group the server's rules: 1 is about schemas, 2 pruning, 3 nulls and
// defaults, 4 metadata, 5 types, 6 findings, 7 JSON, 8 YAML, and 10 the order of steps. 11 lists
// oddities.
package fuzz

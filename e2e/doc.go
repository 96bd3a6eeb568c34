// Package e2e runs a real apiextensions-apiserver with a real etcd, on the loopback
// interface and as parts of the test, and asserts that custom resources come to the same
// directly, through espalier proxy, and by package kube. It is a module of its own, as it links
// what a cluster is made of.
package e2e

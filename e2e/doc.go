// Package e2e runs a real apiextensions-apiserver with a real etcd, on the loopback interface and
// within the test. It asserts that custom resources are treated the same directly, through espalier
// proxy, and by package kube, and that the command reads definitions and objects from the server. It
// is a module of its own, as it links the parts of a cluster.
package e2e

// Package apiserver does what a kube-apiserver does to an object besides pruning it
// and inserting defaults: how it reads text that is not UTF-8 (repair.go), how it
// writes numbers (numbers.go), what a round trip through metav1.ObjectMeta leaves of
// metadata (metadata.go), and which names it reads as kind and apiVersion
// (objecttype.go).
//
// These are rules about bytes. Package decoder applies them where a ServerMode asks
// for it.
package apiserver

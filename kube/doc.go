// Package kube puts Espalier into programs that are made of k8s.io packages: API servers,
// controllers and webhooks. It is a module of its own, so that nothing else here depends on
// them. It is checked against v0.37 of k8s.io/apiextensions-apiserver and k8s.io/apimachinery.
//
//	r, err := kube.ForCRD(crd)                                        // a kind, with the schemas of its versions
//	s, err := kube.NewSerializer(nil, nil, options, r)                // a runtime.Serializer
//	n, err := kube.NewNegotiatedSerializer(codecs, scheme, scheme, r) // a runtime.NegotiatedSerializer
//	d := r.StorageDecoder("v1", nil)                                  // a runtime.Decoder for what is stored
//	d, err := admission.NewDecoder(scheme, strict, r)                 // for controller-runtime, in a module of its own
//
// # What it replaces
//
// The handler of custom resources decodes an object in steps: encoding/json looks for kind and
// apiVersion, sigs.k8s.io/json parses to maps, metadata is marshalled and parsed again, and
// four walks over the maps prune, drop nulls, look for embedded metadata and insert defaults.
// Here it is one walk over the bytes, which a second one makes maps of. The values are the
// server's, with their Go types, and so are the findings with their order and the texts of
// errors.
//
// What is a map already, such as an object after admission, is pruned and defaulted in
// place by the server's own packages: [Resource.Prune] and [Resource.Default].
//
// # Patches
//
// [Resource.Patch] applies merge patches and JSON patches to an object, decodes the result, and has
// the server's warnings and errors (KEP-2885). Patches that come without their object are
// looked at by [Resource.DecodeMergePatch], which also prunes them, by [CheckJSONPatch], and,
// for types that have strategic merge patches, by a [StrategicPatchChecker].
//
// # Versions
//
// Which schema an object is decoded by, its apiVersion says. The one that is expected, by the
// defaults that Decode is given, is tried first, and nearly always right. Objects of a version
// that the resource does not have lose all but apiVersion, kind and metadata; of objects of
// other kinds only metadata is pruned.
//
// # Differences from the API server
//
//   - The limits of package decoder hold: of findings 100 are kept, and the rest are counted
//     in a last entry; defaults that insert more than 16 MiB are an error.
//   - Names in paths are escaped where they could forge a line.
//   - A stored object without metadata is decoded; the server panics.
//
// # Concurrency
//
// Everything in this package can be used by any number of goroutines.
package kube

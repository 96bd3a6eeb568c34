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
// other kinds only metadata is pruned. What is stored in another version is converted by
// the converter that [Resource.StorageDecoder] is given, which is the server's.
//
// # Lists
//
// Items of the resources in unstructured lists are decoded as if each were sent by itself: their
// findings have paths like items[0].spec.x, and no places. Of all items together no
// more findings are kept than of one object; the limit for defaults is for each. Lists of Go types are decoded by
// k8s.io/apimachinery alone.
//
// # Errors
//
// A document that is refused has an [Error] with the server's text and ours, or, where the server's own type
// tells something, the server's error: for a missing kind or version, and types that are not registered. What
// a [Serializer] finds is a runtime.NewStrictDecodingError, and stays one through a [NegotiatedSerializer].
//
// # Differences from the API server
//
// TestDecoders of module e2e compares with the server's packages and has each of these.
//
//   - The limits of package decoder hold: of findings 100 are kept, and the rest are counted
//     in a last entry; defaults that insert more than 16 MiB are an error.
//   - Names in paths are escaped where they could forge a line. [ServerTexts] takes back both for the texts of
//     strict errors.
//   - Items of lists are pruned; the server knows no schema for them.
//   - A stored object without metadata is decoded; the server panics. One with items stays an object, where
//     the server makes a list of it that it does not prune. It is converted also where into has no
//     apiVersion.
//   - Where an object is decoded into nothing, or into a Go type that it is not of, one without a kind is
//     refused at once, and the type that is returned is what kind and apiVersion say: KIND does not
//     count.
//
// # Concurrency
//
// Everything in this package can be used by any number of goroutines.
package kube

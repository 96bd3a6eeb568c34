// Package kube connects Espalier to programs that use k8s.io packages: API
// servers, controllers and webhooks. It is a module of its own, so that the
// rest of Espalier does not depend on those packages. It is checked against
// v0.37 of k8s.io/apiextensions-apiserver and k8s.io/apimachinery.
//
//	r, err := kube.ForCRD(crd)                                        // a kind, with the schemas of its versions
//	s, err := kube.NewSerializer(nil, nil, options, r)                // a runtime.Serializer
//	n, err := kube.NewNegotiatedSerializer(codecs, scheme, scheme, r) // a runtime.NegotiatedSerializer
//	d := r.StorageDecoder("v1", nil)                                  // a runtime.Decoder for what is stored
//	d, err := admission.NewDecoder(scheme, strict, r)                 // for controller-runtime, in a module of its own
//	v, err := kube.NewValidator(crd, "v1")                            // Validate, ValidateUpdate of a rest.RESTCreateUpdateStrategy
//
// # What it replaces
//
// The API server's handler of custom resources decodes an object in steps.
// encoding/json reads kind and apiVersion, sigs.k8s.io/json parses the object
// to maps, and metadata is marshalled and parsed again. Four walks over the
// maps then prune, drop nulls, look for embedded metadata and insert defaults.
// This package decodes in one walk over the bytes, and makes maps of its result
// in a second one. The values are the server's, with their Go types. So are the
// findings, their order and the texts of errors.
//
// [Resource.Prune] and [Resource.Default] prune and default objects that are
// maps already, such as an object after admission. They work in place and use
// the server's own packages.
//
// # Patches
//
// [Resource.Patch] applies merge patches and JSON patches to an object, decodes
// the result, and returns the server's warnings and errors (KEP-2885). For
// patches that come without their object, [Resource.DecodeMergePatch] checks
// and prunes merge patches, [CheckJSONPatch] checks JSON patches, and a
// [StrategicPatchChecker] checks patches for types that have strategic merge
// patches.
//
// # Validation
//
// Decoding validates no values: in an API server, admission comes first. A
// [Validator] then takes the place of the server's packages in the strategy of a
// store. It is more than ten times as fast, because a valid object needs one walk
// and nothing else. An update is compared with the stored object. Rules in CEL
// are evaluated if there is a compiler for them: see [Rules].
//
//	type strategy struct { // a rest.RESTCreateUpdateStrategy, with the methods that are not here
//		runtime.ObjectTyper
//		names.NameGenerator
//		*kube.Validator // Validate, WarningsOnCreate, ValidateUpdate, WarningsOnUpdate
//	}
//
// # Versions
//
// The apiVersion of an object selects the schema that decodes it. The version
// that the defaults of Decode name is tried first, and is nearly always right.
// An object of a version that the resource does not have loses everything
// except apiVersion, kind and metadata. Of objects of other kinds only metadata
// is pruned. Objects that are stored in another version are converted: by
// [Resource.StorageDecoder] itself if the definition's strategy is None, and
// otherwise by the converter that it is given, which is the server's.
//
// # Lists
//
// Items of the resources in unstructured lists are decoded as if each had been
// sent by itself. Their findings have paths such as items[0].spec.x. They have
// positions if the list is JSON, is decoded into a list, and repeats no name. The
// limit for findings is that of one object for all items together; the limit
// for defaults applies to each item. Lists of Go types are decoded by
// k8s.io/apimachinery alone.
//
// # Server-side apply
//
// [Resource.DecodeApply] decodes the bodies of apply requests with findings.
//
// # Errors
//
// A document that is refused results in an [*Error] with the server's text and
// Espalier's error. Where callers distinguish the server's error by its type,
// they get that error: for a missing kind or version, and for types that are
// not registered. The findings of a [Serializer] are a
// runtime.NewStrictDecodingError, also through a [NegotiatedSerializer].
//
// # Differences from the API server
//
// TestDecoders of module e2e compares this package with the server's packages,
// and has a case for each of these differences:
//
//   - The limits of package decoder apply. 100 findings are kept, and a last
//     entry counts the rest. Defaults that insert more than 16 MiB are an
//     error.
//   - Names in paths are escaped where they could forge a line. [ServerTexts]
//     makes strict errors follow the server in this and in the number of
//     findings.
//   - Items of lists that are sent are pruned; the server has no schema for them.
//   - A stored object without metadata is decoded; the server panics. A stored
//     object is converted even if into has no apiVersion.
//
// TestKubeValidator and TestUpdates of module fuzz compare [Validator] with the
// server's strategy. There are these differences:
//
//   - 100 errors are kept, and a last entry counts the rest.
//   - They are in the order of names of fields; the server's order is random.
//   - An error whose BadValue is of a Go type in the server, such as the list of
//     owner references, has what that is in JSON. The text is the same.
//   - Updates have the errors in metadata of rest.ValidateUpdate, too, each once.
//     That a resourceVersion is missing is left to that function.
//   - An object whose metadata is malformed has no other error. So has one with
//     an embedded resource whose metadata or type is. Decoding leaves no such
//     objects.
//
// # Concurrency
//
// Any number of goroutines can use everything in this package.
package kube

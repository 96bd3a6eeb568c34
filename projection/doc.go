// Package projection makes the objects smaller that a client of Kubernetes
// reads. A controller looks at a few fields of an object, and its cache holds
// all of them, decoded to five or ten times their size. The transport of this
// package removes the others from the bytes of a response, before anybody
// decodes them:
//
//	p, err := projection.New(projection.Options{}, projection.Rule{
//		Group: "example.com", Resource: "widgets",
//		Type: reflect.TypeFor[Widget](), // a struct with what is read
//		Keep: []string{"status"},        // or paths, or both
//	})
//	...
//	config.Wrap(p.Transport) // config is a *rest.Config
//
// A client needs nothing else: informers, listers and caches work as before. No
// definition is needed, and nothing of k8s.io is imported.
//
// # Reading
//
// The transport projects the responses to GET, LIST and WATCH requests for the
// resources of its rules, while they are read. It passes on as they are: other
// resources, subresources, errors and every other status than 200, Tables and
// PartialObjectMetadata, responses that are not JSON, and encodings other than
// gzip. [Counts] has how many of each. A request for a rule's resource that
// accepts protobuf or CBOR besides JSON is sent without these.
//
// Of a list, only the items change; its metadata, with the token that continues
// it, does not. A null among the items stays. Of a watch, the objects of ADDED,
// MODIFIED, DELETED and BOOKMARK events change, and annotations of bookmarks
// are kept. What describes a body is right afterwards: Content-Length,
// Content-Encoding and digests are gone, as are ETag and Last-Modified, and
// trailers are set when the body ends.
//
// A broken response never becomes a shorter one that looks complete. The last
// byte of a list follows when all of it was read and found to be well-formed.
// A response that ends too early ends with io.ErrUnexpectedEOF, errors of the
// connection stay what they are, and a response that is malformed, or larger
// than the [Options] allow, or whose items are no objects, ends with another
// error from Read.
//
// A list takes the same memory whatever its length: some 32 KiB, and the names
// and keys of open objects. An event or a single object is held as a whole.
//
// # Writing
//
// An object that was read through a projection must not be written back whole:
// the fields that were projected away would be lost. The transport refuses
// what could lose them, with an answer of its own: the status code is 422 and
// the reason Invalid, and the message says what to do. Nothing marks the objects
// themselves, as controllers change and copy what is in them. What is refused
// follows from the rule, for all versions of the resource:
//
//   - PUT, which is Update. Status().Update passes if status is kept whole.
//     Updates of the scale pass, and those of other subresources do not.
//   - POST, which is Create, and server-side apply, of an object that was read:
//     one with metadata.uid, creationTimestamp or generation. Objects that the
//     client has made pass.
//   - A merge patch that sets what is not kept, or replaces a list of whose
//     items only a part was read. What it removes, by null or [], may go. The
//     same holds for strategic merge patches.
//   - A JSON patch that sets what is not kept, or kept in part, unless it tests
//     the old value before. Inserting elements passes, as does removing, but of
//     elements that were read in part a patch may insert, remove or change
//     some, and not two of these: libraries that compare lists move elements so.
//   - Any of these by a path that servers may read differently.
//
// What is not refused: JSON patches that change several elements by index, as
// libraries exchange two; server-side apply of objects that the client has made,
// even if it was made from what was read; and writes by another client without
// this transport. ExtractInto of apply configurations needs the path
// metadata.managedFields.
//
// # Concurrency
//
// A [Projection] and its transports can be used by any number of goroutines.
// Of the body of a response, Close may be called while Read is at work.
//
// # Where the rules come from
//
//	paths of requests, what a watch is     k8s.io/apiserver, pkg/endpoints/request/requestinfo.go
//	lists, events, Status                  k8s.io/apimachinery, pkg/apis/meta/v1
//	bookmarks that end a list              KEP-3157 (WatchList)
//	patches                                RFC 6902, RFC 6901, RFC 7386, KEP-555 (apply)
package projection

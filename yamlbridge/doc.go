// Package yamlbridge converts YAML documents to JSON, and remembers the
// position of each name and value. It reads bytes and writes bytes: there are
// no tokens, events or nodes in between. A [Reader] whose buffers have grown
// allocates nothing for common documents. It does allocate for !!binary and
// !!timestamp, %TAG, keys that are the float 0, and UTF-16.
//
// The package reads all YAML that can be converted to JSON: block and flow
// collections (and therefore KYAML and JSON), all styles of scalars, comments,
// directives, anchors, aliases, tags, merge keys and explicit keys.
//
// # Dialects
//
// The default dialect, [Kubernetes], reads scalars as the Kubernetes API server
// does (sigs.k8s.io/yaml over go.yaml.in/yaml/v2), which is neither YAML 1.1
// nor 1.2: yes, on and y are booleans; 0777 and 0o777 are octal; 1_000 is 1000;
// 1e3 and 1000.0 are the integer 1000; 190:20:30 and dates are strings. Keys
// become strings as in the server: 0x10 is the name "16", and yes is "true".
// The grammar is that of libyaml, too.
//
// The dialect refuses what the server alters, ignores or decides at random: a
// second document, or anything after the first; tags outside the core ones;
// !!binary that is not UTF-8; numbers beyond a float64; UTF-16; a byte order
// mark within the document; and text in which readers of YAML 1.1 and 1.2 find
// different members (see below). It reads some text that the server refuses:
// %YAML 1.2, and the escapes of JSON that libyaml does not know, which are \/
// and surrogate pairs.
//
// [Server] does what the server does in all these cases. This includes the text
// after the root: the server's scanner looks at a part of it, and refuses what
// it cannot read there.
//
// [Core] is YAML 1.2 with its core schema. It ignores tags that are not of that
// schema, and << is an ordinary key.
//
// # Repeated names
//
// All members of a mapping are written, in their order, even if names are equal
// or become equal as strings (1 and "1"). Readers of the JSON can detect them
// by name, and [Reader.Position] has their lines. As in the API server, the
// keys 0.0 and -0.0 are the same key, with the name of the last: "0" or "-0".
//
// # Anchors, aliases and merge keys
//
// Aliases are expanded by copying. Merge keys follow the YAML rule
// (yaml.org/type/merge.html): an explicit key wins wherever it is, an earlier
// mapping of a list wins over a later one, and overriding a merged member is
// not a duplicate. If a mapping has several merge keys, a later one wins over
// an earlier one, as in the API server. [MaxAliasBytes] and [MaxAliasFactor]
// bound how much is copied for aliases and merge keys.
//
// # Line breaks and indicators
//
// Positions count lines as YAML 1.2 does: LF, CRLF and CR end a line. In YAML
// 1.1, and therefore in the API server, U+0085, U+2028 and U+2029 end a line as
// well, so that a comment stops there, which it does not do in YAML 1.2.
// Outside quotes they are an error in both Kubernetes and Core. They are also
// an error within an explicit name in quotes, and after a backslash. Elsewhere
// in quotes all readers see the same end of the scalar. There, Kubernetes folds
// them, as the server does, and Core keeps them. They do not end a line in
// positions, or where [Documents] looks for markers.
//
// Within brackets, Kubernetes refuses ? and : where libyaml and YAML 1.2 do not
// agree whether they are indicators: {?a: 1}, {a:}, [!!str :a]. A document that
// both Kubernetes and Core read therefore has the same names and collections in
// both, except for the merge key, which is a name in YAML 1.2, and for keys
// that are rewritten (0x10, yes). Server treats all of these as the server
// does.
package yamlbridge

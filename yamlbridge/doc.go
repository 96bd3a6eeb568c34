// Package yamlbridge turns YAML documents into JSON, and remembers where each name
// and value stood. It reads bytes and writes bytes: there are no tokens, events or
// nodes between them, and a [Reader] that has grown allocates nothing for what is
// common. What does allocate are !!binary and !!timestamp, %TAG, keys that
// are the float 0, and UTF-16.
//
// All of YAML is read that can be turned into JSON: block and flow collections (so
// KYAML, and JSON), all styles of scalars, comments, directives, anchors, aliases,
// tags, merge keys and explicit keys.
//
// # Dialects
//
// By default, as [Kubernetes], scalars are read as the Kubernetes API server reads
// them (sigs.k8s.io/yaml over go.yaml.in/yaml/v2), which is neither YAML 1.1 nor
// 1.2: yes, on and y are booleans; 0777 and 0o777 are octal; 1_000 is 1000; 1e3 and
// 1000.0 are the integer 1000; 190:20:30 and dates are strings. Keys become strings
// as they do there: 0x10 is the name "16", yes is "true". The grammar is that of
// libyaml, too.
//
// What that server mangles, ignores or decides at random is refused: a second
// document, or anything behind the first; tags outside the core ones; !!binary that
// is not UTF-8; numbers beyond a float64; UTF-16; a byte order mark within the
// document; and what readers of YAML 1.1 and 1.2 find other members in (see
// below). [Server] has it as the server does: also what follows the root, which
// the server's scanner looks at as far as it must, and refuses what it chokes on. The
// other way round, %YAML 1.2 is read, and the escapes of JSON that libyaml does not know: \/ and surrogate
// pairs.
//
// [Core] is YAML 1.2 with its core schema. It reads tags that are not of that schema
// as if they were not there, and its << is a key like any other.
//
// # Names that stand twice
//
// All members of a mapping are written, in their order, also where names are
// equal or become equal as strings (1 and "1"). Whoever reads the JSON finds
// them by name, and their lines through [Reader.Position]. As on the API server, the
// keys 0.0 and -0.0 are one, which has the name of the last: "0" or "-0".
//
// # Anchors, aliases and merge keys
//
// Aliases are expanded by copy. Merge keys follow the YAML rule (yaml.org/type/
// merge.html): an explicit key wins wherever it stands, the earlier mapping of a
// list wins over the later, and overriding a merged member is no duplicate.
// Where a mapping has several merge keys, the later wins over the earlier, as
// on the API server. What is copied on behalf of aliases and merge keys is
// bounded by [MaxAliasBytes] and [MaxAliasFactor].
//
// # Lines, and one structure
//
// Positions count lines by YAML 1.2: LF, CRLF and CR end them. U+0085, U+2028 and
// U+2029 end a line in YAML 1.1, and so for the API server: a comment stops there, and
// in YAML 1.2 it does not. Outside quotes they are an error, in both dialects, and so
// they are within an explicit name in quotes, or behind a backslash. Elsewhere in quotes
// all readers see the same end of the scalar: there they are folded in the Kubernetes
// dialect, as on the server, and kept in Core. In positions they end no line, nor where
// [Documents] looks for markers.
//
// Within brackets, the Kubernetes dialect refuses ? and : where libyaml and YAML 1.2 do
// not agree on whether they are indicators: {?a: 1}, {a:}, [!!str :a]. So what both
// dialects read has the same names and collections in both, but for the merge key, which
// is a name in YAML 1.2, and keys that are written anew (0x10, yes). The
// dialect Server takes all of these as the server does.
package yamlbridge

package projection

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/espalier-dev/espalier/internal/fieldpath"
	"github.com/espalier-dev/espalier/schema"
)

// judgePatch returns why a patch is refused, or "".
func (r *rule) judgePatch(contentType string, text []byte) string {
	switch mediaType(contentType) {
	case "application/apply-patch+yaml":
		return r.judgeApply(text)
	case "application/json-patch+json":
		return r.judgeJSONPatch(text)
	case "application/merge-patch+json", "application/strategic-merge-patch+json":
		var patch map[string]any
		if err := json.Unmarshal(text, &patch); err != nil {
			return "its body is no JSON object: " + err.Error()
		}
		return judgeMerge(r.schema, patch, "")
	}
	return "a patch of the type " + fieldpath.Quoted(contentType) + " cannot be judged: send a merge patch or a JSON patch"
}

// judgeMerge returns why a merge patch (RFC 7386) or a strategic merge patch is refused, or "". Such
// a patch was mostly made by comparing an object that was read with one that was changed. Then what
// it sets must have been read as a whole. A null removes, and so does an empty list, in plain sight.
func judgeMerge(s *schema.Structural, value any, path string) string {
	if value == nil || keepsWhole(s) {
		return ""
	}
	object, isObject := value.(map[string]any)
	list, isList := value.([]any)
	switch {
	case s == nil:
		return notKept(path)
	case isList && s.Items != nil:
		if len(list) == 0 || keepsWhole(s.Items.Schema) {
			return ""
		}
		return keptInPart(path)
	case !isObject || len(s.Properties) == 0 && s.AdditionalProperties == nil:
		return keptInPart(path)
	}
	for name, member := range object {
		switch {
		case strings.HasPrefix(name, "$setElementOrder/"), strings.HasPrefix(name, "$deleteFromPrimitiveList/"):
			continue
		case strings.HasPrefix(name, "$"):
			return path + "." + name + " may replace what was projected away: patch the fields that are meant"
		}
		if why := judgeMerge(memberOf(s, name), member, path+"."+name); why != "" {
			return why
		}
	}
	return ""
}

// memberOf returns what is kept of a member, or nil if it is not kept.
func memberOf(s *schema.Structural, name string) *schema.Structural {
	if member := s.Properties[name]; member != nil || s.AdditionalProperties == nil {
		return member
	}
	return s.AdditionalProperties.Schema
}

func notKept(path string) string {
	path = strings.TrimPrefix(path, ".")
	return "it sets " + path + ", which was projected away and may have a value: keep it, or test its value in a JSON patch"
}

func keptInPart(path string) string {
	path = strings.TrimPrefix(path, ".")
	return "it replaces " + path + ", of which only a part was read: patch the fields below it, keep it whole, or send a JSON patch"
}

// judgeJSONPatch returns why a JSON patch (RFC 6902) is refused, or "". What it sets must have been
// read as a whole, or be new, or its old value is tested by the operations before it: then the server
// refuses the patch if there is more than the client knows.
//
// NOTE: libraries make patches by comparing lists. They move elements, take one away from the middle
// or put one there by removing the last or inserting a copy of it, and by changing the others, whose
// rest stays where it was. So of removing, inserting and changing parts, a patch may do one.
func (r *rule) judgeJSONPatch(text []byte) string {
	var patch []map[string]json.RawMessage
	if err := json.Unmarshal(text, &patch); err != nil {
		return "its body is no list of operations: " + err.Error()
	}
	var tested []string
	var removes, inserts, changes bool // elements of which a part was read
	for i, op := range patch {
		var kind, path string
		if json.Unmarshal(op["op"], &kind) != nil || json.Unmarshal(op["path"], &path) != nil {
			return "operation " + strconv.Itoa(i) + " has no op or no path"
		}
		if path != "" && path[0] != '/' { // servers differ in what they make of it
			return "operation " + strconv.Itoa(i) + " has a path that does not start with a slash"
		}
		isKnown := isTested(path, tested)
		switch kind {
		case "test":
			tested = append(tested, path)
			continue
		case "remove":
			removes = removes || !isKnown && r.isOfElements(path)
			tested = nil // indices may mean other elements from here on
			continue
		case "replace":
		case "add", "move", "copy":
			if r.inserts(path) {
				inserts = inserts || kind == "add" && isInPart(r.at(path))
				tested = nil
				continue
			}
		default:
			return "operation " + strconv.Itoa(i) + " is of an unknown kind"
		}
		empties := kind != "move" && kind != "copy" && string(op["value"]) == "[]"
		if why := r.judgeSet(path, empties); why != "" && !isKnown {
			return why
		}
		removes = removes || empties && !isKnown && r.isOfElements(path)
		changes = changes || !isKnown && r.isBelowElement(path)
		if kind != "replace" {
			tested = nil
		}
	}
	if removes && inserts || removes && changes || inserts && changes {
		return "it both removes, inserts or changes elements of lists that were read in part, which may mix them up: " +
			"send one of these in a patch, use the operation move, or test the old values before"
	}
	return ""
}

// isInPart reports whether of a value only a part was read.
func isInPart(s *schema.Structural) bool {
	return s != nil && !keepsWhole(s) && (s.Items == nil || !keepsWhole(s.Items.Schema))
}

// isOfElements reports whether a path leads to a list whose elements were read in part, or to one of
// them.
func (r *rule) isOfElements(path string) bool {
	s := r.at(path)
	return isInPart(s) && (s.Items != nil || r.inserts(path))
}

// isBelowElement reports whether a path leads into an element of a list of which only a part was read.
func (r *rule) isBelowElement(path string) bool {
	s, inElement := r.schema, false
	for i, token := range strings.Split(path, "/") {
		switch {
		case i == 0: // before the first slash
			continue
		case inElement:
			return true
		case s == nil || keepsWhole(s):
			return false
		}
		isElement := s.Items != nil && isIndex(token)
		s = step(s, token)
		inElement = isElement && isInPart(s)
	}
	return false
}

// isTested reports whether one of the tests is of the value at a path, or of one around it.
func isTested(path string, tested []string) bool {
	for _, t := range tested {
		if path == t || strings.HasPrefix(path, t+"/") {
			return true
		}
	}
	return false
}

// inserts reports whether adding at a path inserts an element into a list.
func (r *rule) inserts(path string) bool {
	at := strings.LastIndexByte(path, '/')
	if at < 0 {
		return false
	}
	list := r.at(path[:at])
	return list != nil && list.Items != nil && isIndex(path[at+1:])
}

// judgeSet returns why a value must not be set at a path, or "". A list may be emptied.
func (r *rule) judgeSet(path string, empties bool) string {
	s := r.at(path)
	switch {
	case s == nil:
		return notKept(path)
	case isInPart(s) && (s.Items == nil || !empties):
		return keptInPart(path)
	}
	return ""
}

// at returns what is kept at a JSON Pointer (RFC 6901), or nil if nothing is.
func (r *rule) at(pointer string) *schema.Structural {
	s := r.schema
	for i, token := range strings.Split(pointer, "/") {
		switch {
		case i == 0: // before the first slash
		case s == nil || keepsWhole(s):
			return s
		default:
			s = step(s, token)
		}
	}
	return s
}

// step returns what is kept at a token of a JSON Pointer, below a value that is kept in part.
func step(s *schema.Structural, token string) *schema.Structural {
	if s.Items != nil && isIndex(token) {
		return s.Items.Schema
	}
	return memberOf(s, strings.NewReplacer("~1", "/", "~0", "~").Replace(token))
}

// isIndex reports whether a token of a JSON Pointer is that of an element.
func isIndex(token string) bool {
	return token == "-" || token != "" && strings.Trim(token, "0123456789") == ""
}

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
func (r *rule) judgeJSONPatch(text []byte) string {
	var patch []map[string]json.RawMessage
	if err := json.Unmarshal(text, &patch); err != nil {
		return "its body is no list of operations: " + err.Error()
	}
	var tested []string
	for i, op := range patch {
		var kind, path string
		if json.Unmarshal(op["op"], &kind) != nil || json.Unmarshal(op["path"], &path) != nil {
			return "operation " + strconv.Itoa(i) + " has no op or no path"
		}
		if path != "" && path[0] != '/' { // servers differ in what they make of it
			return "operation " + strconv.Itoa(i) + " has a path that does not start with a slash"
		}
		switch kind {
		case "test":
			tested = append(tested, path)
			continue
		case "remove":
			tested = nil // indices may mean other elements from here on
			continue
		case "replace":
		case "add", "move", "copy":
			if r.inserts(path) {
				tested = nil
				continue
			}
		default:
			return "operation " + strconv.Itoa(i) + " is of an unknown kind"
		}
		if why := r.judgeSet(path, op["value"]); why != "" && !isTested(path, tested) {
			return why
		}
		if kind != "replace" {
			tested = nil
		}
	}
	return ""
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

// judgeSet returns why a value must not be set at a path, or "".
func (r *rule) judgeSet(path string, value json.RawMessage) string {
	s := r.at(path)
	switch {
	case s == nil:
		return notKept(path)
	case keepsWhole(s) || s.Items != nil && (keepsWhole(s.Items.Schema) || string(value) == "[]"):
		return ""
	}
	return keptInPart(path)
}

// at returns what is kept at a JSON Pointer (RFC 6901), or nil if nothing is.
func (r *rule) at(pointer string) *schema.Structural {
	s := r.schema
	for i, token := range strings.Split(pointer, "/") {
		switch {
		case i == 0: // before the first slash
		case s == nil || keepsWhole(s):
			return s
		case s.Items != nil && isIndex(token):
			s = s.Items.Schema
		default:
			s = memberOf(s, strings.NewReplacer("~1", "/", "~0", "~").Replace(token))
		}
	}
	return s
}

// isIndex reports whether a token of a JSON Pointer is that of an element.
func isIndex(token string) bool {
	return token == "-" || token != "" && strings.Trim(token, "0123456789") == ""
}

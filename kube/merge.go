package kube

// NOTE: the server parses a merge patch for its findings, parses it again to apply it to the text
// of the object, and parses the result. The functions here read the patch once, and write the
// result while they apply it. It is that of the library for patches: a null that replaces something
// removes it, what is new loses its nulls except in arrays, and an array that replaces an object
// keeps all of them (RFC 7386 does not say the last).

import (
	stdjson "encoding/json"
)

// merged returns the JSON of an object to which a merge patch is applied. It reports whether it
// did: not if the patch is no object, or has findings, about which the server has rules of its own.
func merged(current map[string]any, patch []byte, how reading) (text []byte, ok bool) {
	d := anyObject().GetFor(how.validation())
	defer anyObject().Put(d)
	var members map[string]any
	err := d.Unmarshal(patch, &members)
	if err != nil || members == nil || current == nil || len(d.Findings())+d.Omitted() > 0 {
		return nil, false
	}
	text, err = appendMerged(nil, current, members)
	return text, err == nil
}

// appendMerged appends an object to which a patch is applied.
func appendMerged(b []byte, current, patch map[string]any) (_ []byte, err error) {
	b = append(b, '{')
	for name, value := range current {
		change, isChanged := patch[name]
		if isChanged && change == nil {
			continue
		}
		b = append(appendString(b, name), ':')
		if isChanged {
			b, err = appendChanged(b, value, change)
		} else {
			b, err = appendCurrent(b, value)
		}
		if err != nil {
			return b, err
		}
		b = append(b, ',')
	}
	for name, value := range patch {
		if _, isChanged := current[name]; isChanged || value == nil {
			continue
		}
		if b, err = appendMember(b, name, withoutNulls(value), false); err != nil {
			return b, err
		}
	}
	return closed(b, '}'), nil
}

// appendChanged appends a value that a patch changes.
func appendChanged(b []byte, current, change any) ([]byte, error) {
	before, wasObject := current.(map[string]any)
	after, isObject := change.(map[string]any)
	switch {
	case !wasObject:
		return appendJSON(b, withoutNulls(change), false)
	case !isObject:
		return appendJSON(b, change, false)
	}
	return appendMerged(b, before, after)
}

// withoutNulls removes the members that are null from the objects of a value, and returns it.
func withoutNulls(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for name, member := range v {
			if member == nil {
				delete(v, name)
			} else {
				withoutNulls(member)
			}
		}
	case []any:
		for _, element := range v {
			withoutNulls(element)
		}
	}
	return value
}

// appendCurrent appends a value of the object as encoding/json writes it: a float64 of 1 becomes an
// integer.
func appendCurrent(b []byte, value any) (_ []byte, err error) {
	switch v := value.(type) {
	case map[string]any:
		b = append(b, '{')
		for name, member := range v {
			b = append(appendString(b, name), ':')
			if b, err = appendCurrent(b, member); err != nil {
				return b, err
			}
			b = append(b, ',')
		}
		return closed(b, '}'), nil
	case []any:
		b = append(b, '[')
		for _, element := range v {
			if b, err = appendCurrent(b, element); err != nil {
				return b, err
			}
			b = append(b, ',')
		}
		return closed(b, ']'), nil
	case float64:
		text, err := stdjson.Marshal(v)
		return append(b, text...), err
	}
	return appendJSON(b, value, false)
}

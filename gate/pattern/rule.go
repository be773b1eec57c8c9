package pattern

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ruleActions are the words that rules of Suricata begin with. What pass lets through is no
// pattern.
var ruleActions = []string{"alert", "drop", "reject", "rejectsrc", "rejectdst", "rejectboth", "pass"}

// minContent is how many bytes the content of a rule must have: less are in most payloads.
const minContent = 4

// isRule reports whether a line is a rule of Suricata, or its beginning.
func isRule(text string) bool {
	action, rest := text, ""
	if at := strings.IndexAny(text, " \t"); at >= 0 {
		action, rest = text[:at], text[at:]
	}
	return slices.Contains(ruleActions, action) && !strings.HasPrefix(strings.TrimSpace(rest), ":")
}

// parseRule returns the pattern of a rule: the content that is its fast_pattern, else the
// longest. ok is false if the rule has none that can be looked for.
func parseRule(text string, line int) (p Pattern, ok bool, err error) {
	_, body, found := strings.Cut(text, "(")
	end := strings.LastIndexByte(body, ')')
	if !found || end < 0 {
		return p, false, errors.New("a rule has no options between ( and )")
	}
	var contents []Pattern
	fast, negated := -1, false
	var sid, message string
	for _, option := range ruleOptions(body[:end]) {
		key, value, _ := strings.Cut(option, ":")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		last := len(contents) - 1
		switch {
		case key == "sid":
			sid = value
		case key == "msg":
			message = strings.Trim(value, `"`)
		case key == "content":
			if negated = strings.HasPrefix(value, "!"); negated {
				continue
			}
			c, isFast, err := ruleContent(value)
			if err != nil {
				return p, false, err
			}
			contents = append(contents, c)
			if isFast {
				fast = last + 1
			}
		case negated || last < 0:
		case key == "nocase":
			contents[last].NoCase = true
		case key == "fast_pattern":
			fast = last
		}
	}
	if p, ok = chosen(contents, fast); !ok || strings.HasPrefix(text, "pass") {
		return p, false, nil
	}
	p.Name = ruleName(sid, message, line)
	return p, true, p.check()
}

// chosen returns the content to look for.
func chosen(contents []Pattern, fast int) (p Pattern, ok bool) {
	for i, c := range contents {
		if i == fast || fast < 0 && len(c.Bytes) > len(p.Bytes) {
			p = c
		}
	}
	return p, len(p.Bytes) >= minContent && len(p.Bytes) <= MaxBytes
}

// ruleContent reads the text of a content, and what Snort writes behind it.
func ruleContent(value string) (p Pattern, fast bool, err error) {
	if value == "" || value[0] != '"' {
		return p, false, fmt.Errorf("content:%s: no quote before the text", shorten(value))
	}
	b, rest, err := quoted(value[1:])
	if err != nil {
		return p, false, err
	}
	p.Bytes = b
	for option := range strings.FieldsFuncSeq(rest, func(r rune) bool { return r == ',' || r == ' ' }) {
		p.NoCase = p.NoCase || option == "nocase"
		fast = fast || option == "fast_pattern"
	}
	return p, fast, nil
}

// ruleOptions splits the options of a rule at semicolons outside of quotes.
func ruleOptions(text string) (list []string) {
	start, inside := 0, false
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			inside = !inside
		case ';':
			if !inside {
				list = append(list, text[start:i])
				start = i + 1
			}
		}
	}
	return list
}

// ruleName returns the number and the message of a rule, as a name may have them.
func ruleName(sid, message string, line int) string {
	clean := strings.Map(func(r rune) rune {
		if strings.ContainsRune(":#\n\r", r) {
			return ' '
		}
		return r
	}, sid+" "+message)
	if name := strings.Join(strings.Fields(clean), " "); name != "" {
		return name
	}
	return fmt.Sprintf("line %d", line)
}

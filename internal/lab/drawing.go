package lab

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// svgSpace is the only namespace in drawings.
const svgSpace = "http://www.w3.org/2000/svg"

// Drawings come from stored files, which can be edited, and stand in pages as they
// are. So only these elements and attributes are in them: nothing that runs, leads
// anywhere or loads anything.
var (
	drawElements   = []string{"circle", "g", "line", "path", "polygon", "polyline", "rect", "text", "tspan"} // in the root
	drawAttributes = []string{
		"class", "cx", "cy", "d", "dx", "dy", "fill", "fill-opacity", "font-family", "font-size", "font-style", "font-weight", "height", "opacity", "points", "r", "rx", "ry",
		"stroke", "stroke-dasharray", "stroke-linecap", "stroke-linejoin", "stroke-opacity", "stroke-width", "text-anchor", "viewBox", "width", "x", "x1", "x2", "y", "y1", "y2",
	}
)

// checkDrawing accepts one svg element of such parts, and nothing around it.
func checkDrawing(drawing string) error {
	// Declarations and comments end elsewhere in HTML than in XML.
	if strings.Contains(drawing, "<!") || strings.Contains(drawing, "<?") {
		return errors.New("a drawing has elements and text only")
	}
	tokens := xml.NewDecoder(strings.NewReader(drawing))
	depth, roots := 0, 0
	for {
		token, err := tokens.Token()
		switch {
		case errors.Is(err, io.EOF) && roots == 1:
			return nil
		case errors.Is(err, io.EOF):
			return errors.New("a drawing is an svg element")
		case err != nil:
			return err
		}
		switch t := token.(type) {
		case xml.StartElement:
			if err := checkElement(t, depth == 0); err != nil {
				return err
			}
			if depth == 0 {
				roots++
			}
			depth++
		case xml.EndElement:
			depth--
		case xml.CharData:
			if depth == 0 && strings.TrimSpace(string(t)) != "" {
				return errors.New("a drawing has no text around its svg element")
			}
		}
		if roots > 1 {
			return errors.New("a drawing is one svg element, not several")
		}
	}
}

func checkElement(e xml.StartElement, root bool) error {
	known := slices.Contains(drawElements, e.Name.Local)
	if root {
		known = e.Name.Local == "svg"
	}
	if !known || e.Name.Space != "" && e.Name.Space != svgSpace {
		return fmt.Errorf("a drawing must not have an element %q there", e.Name.Local)
	}
	for _, a := range e.Attr {
		if root && a.Name == (xml.Name{Local: "xmlns"}) && a.Value == svgSpace {
			continue
		}
		// Brackets would call functions such as url, backslashes hide them.
		if a.Name.Space != "" || !slices.Contains(drawAttributes, a.Name.Local) || strings.ContainsAny(a.Value, `()\<>`) {
			return fmt.Errorf("a drawing must not have an attribute %s=%q", a.Name.Local, a.Value)
		}
	}
	return nil
}

// Package draw turns plots into SVG and PNG, all in one style: those of the lab, of
// everbloom plan, of the page of a gate and of the benchmarks. No other package knows
// the plotting library.
//
// # Style
//
// Colours are those of Okabe and Ito, which people with any sort of colour vision
// can tell apart; markers differ as well. Series are named beside the plot, at the
// height where they end, so that no legend lies over data. A single series has no
// name beside it: the axis says what it is.
//
// Pictures have no background, and everything that is not data has classes in
// place of fixed colours. A small style sheet inside the picture gives them dark
// values on light pages and light values on dark ones, by prefers-color-scheme; a
// viewer that knows no style sheets shows a grey that is readable on both.
//
//	eb-fill-ink  eb-stroke-ink    text; the strongest neutral colour
//	eb-fill-axis eb-stroke-axis   axes and ticks
//	eb-fill-grid eb-stroke-grid   grid; hardly visible
//	eb-fill-1    eb-stroke-1 ...  the palette, from 1 to 7
//
// Experiments that make a drawing of their own use these classes, too; [Drawing]
// puts the style sheet in.
package draw

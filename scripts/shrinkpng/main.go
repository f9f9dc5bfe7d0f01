// Command shrinkpng writes a picture of text with few colours: a palette of the most
// frequent ones makes a screenshot a third of its size.
package main

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"sort"
)

const most = 48 // colours

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: shrinkpng FROM.png TO.png")
		os.Exit(1)
	}
	if err := shrink(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "shrinkpng:", err)
		os.Exit(1)
	}
}

func shrink(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()
	picture, err := png.Decode(in)
	if err != nil {
		return fmt.Errorf("read %s: %w", from, err)
	}
	bounds := picture.Bounds()
	out := image.NewPaletted(bounds, palette(picture))
	nearest := map[color.Color]uint8{}
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			c := picture.At(x, y)
			i, known := nearest[c]
			if !known {
				i = uint8(out.Palette.Index(c))
				nearest[c] = i
			}
			out.SetColorIndex(x, y, i)
		}
	}
	f, err := os.Create(to)
	if err != nil {
		return err
	}
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	if err := encoder.Encode(f, out); err != nil {
		return fmt.Errorf("write %s: %w", to, err)
	}
	return f.Close()
}

// palette are the most frequent colours, equally frequent ones in a fixed order.
func palette(picture image.Image) color.Palette {
	count := map[color.RGBA]int{}
	bounds := picture.Bounds()
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			r, g, b, _ := picture.At(x, y).RGBA()
			count[color.RGBA{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8), 0xff}]++
		}
	}
	var all []color.RGBA
	for c := range count {
		all = append(all, c)
	}
	key := func(c color.RGBA) int { return int(c.R)<<16 | int(c.G)<<8 | int(c.B) }
	sort.Slice(all, func(i, j int) bool {
		if count[all[i]] != count[all[j]] {
			return count[all[i]] > count[all[j]]
		}
		return key(all[i]) < key(all[j])
	})
	var out color.Palette
	for _, c := range all[:min(len(all), most)] {
		out = append(out, c)
	}
	return out
}

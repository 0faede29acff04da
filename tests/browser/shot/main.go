// Shot takes screenshots of pages, for whoever changes how they look. The pictures of docs/console.md are taken by make pictures.
//
//	go run ./shot -dark -width 320 http://127.0.0.1:9465/jobs jobs.png
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

func main() {
	width := flag.Int64("width", 1280, "of the window, in CSS pixels")
	dark := flag.Bool("dark", false, "prefer dark colors")
	forced := flag.Bool("forced", false, "force the colors of the user")
	paper := flag.Bool("print", false, "lay out for printing")
	scale := flag.Float64("scale", 1, "device pixels of a CSS pixel")
	flag.Parse()
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "light"}}}
	if *dark {
		media.Features[0].Value = "dark"
	}
	if *forced {
		media.Features = append(media.Features, &emulation.MediaFeature{Name: "forced-colors", Value: "active"})
	}
	if *paper {
		media.Media = "print"
	}
	if err := shoot(*width, *scale, media, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// shoot takes pictures of whole pages; pages are pairs of a URL and a file.
func shoot(width int64, scale float64, media emulation.SetEmulatedMediaParams, pages []string) error {
	if len(pages) == 0 || len(pages)%2 != 0 {
		return errors.New("want pairs of a URL and a file")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.ExecPath("chromium-headless-shell"))
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	defer cancel()
	ctx, cancel = chromedp.NewContext(ctx)
	defer cancel()
	ctx, cancel = context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	if err := chromedp.Do(ctx, chromedp.Navigate("about:blank")); err != nil {
		return err
	}
	_, err := chromedp.Call(ctx, emulation.SetDeviceMetricsOverride,
		emulation.SetDeviceMetricsOverrideParams{Width: width, Height: 800, DeviceScaleFactor: scale})
	if err != nil {
		return err
	}
	if _, err = chromedp.Call(ctx, emulation.SetEmulatedMedia, media); err != nil {
		return err
	}
	for ; len(pages) > 0; pages = pages[2:] {
		if err := chromedp.Do(ctx, chromedp.Navigate(pages[0])); err != nil {
			return fmt.Errorf("open %s: %w", pages[0], err)
		}
		picture, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
		if err != nil {
			return fmt.Errorf("shoot %s: %w", pages[0], err)
		}
		if err := os.WriteFile(pages[1], picture, 0o644); err != nil {
			return err
		}
	}
	return nil
}

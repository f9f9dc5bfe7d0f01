// Package collect reads from a live cluster what a question needs.
package collect

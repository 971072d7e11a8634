// Package page writes what an experiment has shown as one HTML file to look at: the
// answer first, then what it rests on. The file needs no network and runs no
// script; it has a light and a dark face, fits a telephone, and prints.
//
// It computes no estimates of its own. What strategies are called and what they said
// when they failed is foreign text: it is escaped, and the page forbids scripts
// besides.
package page

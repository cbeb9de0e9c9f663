// Command empty does nothing: no Go program starts sooner.
package main

func main() {}

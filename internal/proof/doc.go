// Package proof is the floor of what is proved: explore looks at every situation that a workflow allows, simulate
// runs tasks with scripted agents, replay makes the decisions of a history again, graph draws a workflow.
//
// All but simulate only compute. They call the rules that also decide in earnest, and have none of their own.
package proof

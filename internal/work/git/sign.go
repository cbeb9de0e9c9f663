package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"orange/internal/run/proc"
)

// signature begins the signature that an ssh key has made, in the header of a commit.
const signature = "\ngpgsig -----BEGIN SSH SIGNATURE-----\n"

// sshSigning are settings of git for signatures by ssh keys. They stand in the environment, which counts over what a
// repository's own configuration says: no program that it names runs, and no file of signers counts that it names.
func sshSigning(signers string) []string {
	settings := [][2]string{{"gpg.format", "ssh"}, {"gpg.ssh.program", "ssh-keygen"},
		{"gpg.ssh.allowedSignersFile", signers}, {"gpg.program", "false"}, {"gpg.x509.program", "false"}}
	env := []string{fmt.Sprintf("GIT_CONFIG_COUNT=%d", len(settings)), "SSH_ASKPASS_REQUIRE=never"}
	for i, s := range settings {
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, s[0]), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, s[1]))
	}
	return env
}

// CommitTree makes a commit of Orange's own of a tree. It is signed where the repository has a key for that.
func (r Repo) CommitTree(ctx context.Context, dir, tree, message string, parents []string) (string, error) {
	args, env := []string{"commit-tree", "--no-gpg-sign", tree}, Rescuer()
	if r.Key != "" {
		args[1] = "--gpg-sign=" + r.Key
		env = append(env, sshSigning(os.DevNull)...)
	}
	args = append(args, parents...)
	out, err := r.Do(ctx, Call{Dir: dir, Args: append(args, "-F", "-"), Stdin: message, Env: env})
	if err != nil && r.Key != "" {
		err = fmt.Errorf("sign it with %q: %w", r.Key, err)
	}
	if err != nil {
		return "", fmt.Errorf("make the commit: %w", err)
	}
	return out.Text(), nil
}

// Signer is who has signed a commit by the names in a file of allowed signers, as ssh-keygen reads it. An error says
// why no one of them has.
func (r Repo) Signer(ctx context.Context, commit, signers string) (who string, err error) {
	defer Explain(&err, "cannot trust the commit %.12s", commit)
	if _, err := proc.Find("ssh-keygen", proc.Getenv(ctx, "PATH")); err != nil {
		return "", fmt.Errorf("its signature cannot be checked: %w", err)
	}
	if _, err := os.Stat(signers); err != nil {
		return "", fmt.Errorf("look who may sign: %w", err)
	}
	raw, err := r.Do(ctx, Call{Dir: r.Path, Args: []string{"cat-file", "commit", commit}})
	if err != nil {
		return "", err
	}
	header, _, _ := bytes.Cut(raw.Stdout, []byte("\n\n"))
	if !bytes.Contains(header, []byte(signature)) {
		return "", errors.New("it is not signed by an ssh key")
	}
	out, err := r.Do(ctx, Call{Dir: r.Path, Args: []string{"log", "-1", "--format=%G?%n%GF%n%GS", commit, "--"},
		Env: sshSigning(signers)})
	if err != nil {
		return "", err
	}
	said := append(strings.Split(out.Text(), "\n"), "", "", "")
	switch verdict, key := said[0], said[1]; {
	case verdict == "G" && said[2] != "":
		return said[2], nil
	case verdict == "U":
		return "", fmt.Errorf("it is signed by the key %s, which %q does not have", key, signers)
	case verdict == "B":
		return "", errors.New("its signature is not one of this commit")
	default:
		return "", fmt.Errorf("its signature could not be checked (git says %q)", verdict)
	}
}

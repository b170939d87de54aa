# SPDX-License-Identifier: BSD-3-Clause
# Prints a BPF program with what it includes from this folder in its place: awk -f bpf/text.awk bpf/NAME.bpf.c
function put(name,    line, parts) {
	if (seen[name]++)
		return
	while ((getline line < name) > 0) {
		if (split(line, parts, "\"") == 3 && parts[1] == "#include ")
			put("bpf/" parts[2])
		else
			print line
	}
	close(name)
}

BEGIN { put(ARGV[1]) }

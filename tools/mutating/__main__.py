from tools.terminal import run

run("tools.mutating", "tools.mutating.command")

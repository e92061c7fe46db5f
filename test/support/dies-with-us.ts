import { spawn, type ChildProcess } from 'node:child_process';
import type { Writable } from 'node:stream';

/** Reads which processes there are, and ends those that are left when nobody is there any more to say so. */
const WATCH = `left=
while read -r sign signal pid; do
  case $sign in
    +) left="$left $signal:$pid";;
    -) kept=; for one in $left; do [ "$one" = "$signal:$pid" ] || kept="$kept $one"; done; left=$kept;;
  esac
done
for one in $left; do kill -s "\${one%%:*}" "\${one#*:}"; done`;

let watcher: Writable | null = null;

/**
 * Has a process that a test started end when the test's own process does, also where that is killed and can do nothing more: a shell waits
 * for the end of a pipe that only this process holds open. On Windows nothing is done.
 *
 * @param signal what ends it; PostgreSQL cleans up after itself at `QUIT`
 */
export function diesWithUs(child: ChildProcess, signal: 'KILL' | 'QUIT' = 'KILL'): void {
  if (process.platform === 'win32' || child.pid === undefined) return;
  watcher ??= startWatcher();
  const entry = `${signal} ${child.pid}\n`;
  watcher.write(`+ ${entry}`);
  // Its number may become another's.
  child.once('exit', () => watcher?.write(`- ${entry}`));
}

function startWatcher(): Writable {
  // In a group of its own: whoever ends all of a test's processes must not end this one first.
  const shell = spawn('sh', ['-c', WATCH], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  shell.unref();
  // It may be gone where the whole machine is being shut down.
  shell.stdin.on('error', () => undefined);
  (shell.stdin as Writable & { unref(): void }).unref();
  return shell.stdin;
}

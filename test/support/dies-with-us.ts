import { spawn, type ChildProcess } from 'node:child_process';
import type { Writable } from 'node:stream';

/** Lists processes and kills the remaining ones once the test process is gone. */
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
 * Ends a process started by a test with the test process, even if that is killed: a shell waits for the end of a pipe that only this
 * process holds open. Does nothing on Windows.
 *
 * @param signal to send; PostgreSQL cleans up at `QUIT`
 */
export function diesWithUs(child: ChildProcess, signal: 'KILL' | 'QUIT' = 'KILL'): void {
  if (process.platform === 'win32' || child.pid === undefined) return;
  watcher ??= startWatcher();
  const entry = `${signal} ${child.pid}\n`;
  watcher.write(`+ ${entry}`);
  // The process id may be reused.
  child.once('exit', () => watcher?.write(`- ${entry}`));
}

function startWatcher(): Writable {
  // In its own group: killing all processes of a test must not end this one first.
  const shell = spawn('sh', ['-c', WATCH], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  shell.unref();
  // It may be gone during a system shutdown.
  shell.stdin.on('error', () => undefined);
  (shell.stdin as Writable & { unref(): void }).unref();
  return shell.stdin;
}

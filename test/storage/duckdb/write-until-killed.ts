import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import type { Test } from 'tap';

/**
 * Runs a writer, kills it at a random moment and reads its output: JSON lines, of which those with `"done"`
 * are responses.
 *
 * @param module compiled file of the writer
 */
export async function writeUntilKilled<Line>(
  t: Test,
  module: string,
  args: readonly string[],
): Promise<Line[]> {
  const child = spawn(process.execPath, [module, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.teardown(() => child.kill('SIGKILL'));
  let out = '';
  let answers = 0;
  // Some die during startup, some after many segments.
  const killAt = randomInt(3) === 0 ? randomInt(1, 20) : randomInt(20, 150);
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
    answers += text.split('"done"').length - 1;
    if (answers >= killAt) child.kill('SIGKILL');
  });
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  t.equal(signal, 'SIGKILL', `the writer exited before the kill (${String(code)})`);
  // The last line may be incomplete.
  return out
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line);
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import t from 'tap';
import { until } from './until.js';

const SUPPORT = new URL('./dies-with-us.js', import.meta.url).href;

function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

void t.test(
  'processes started by a test end with it',
  { skip: process.platform === 'win32' && 'there is no shell' },
  async (t) => {
    const program = `import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { diesWithUs } from ${JSON.stringify(SUPPORT)};
const started = [1, 2].map(() => spawn('sleep', ['1000'], { stdio: 'ignore' }));
for (const child of started) diesWithUs(child);
diesWithUs(started[1]);
const short = spawn('true');
diesWithUs(short);
await once(short, 'exit');
console.log(started.map(({ pid }) => pid).join(' '));
`;
    const parent = spawn(process.execPath, ['--input-type=module', '--eval', program], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    t.teardown(() => parent.kill('SIGKILL'));
    const [line] = (await once(createInterface({ input: parent.stdout }), 'line')) as [string];
    const pids = line.split(' ').map(Number);
    t.strictSame(pids.map(lives), [true, true]);
    parent.kill('SIGKILL');
    await until('they are gone', () => !pids.some(lives));
  },
);

import t from 'tap';
import { threadArgv } from '../../src/worker/thread-argv.js';

void t.test('a thread inherits the options of the process unless they preload modules', async (t) => {
  for (const argv of [
    ['--cpu-prof', '--import', './a.js'],
    ['--import=./b.js', '--max-semi-space-size=64'],
    ['-r', 'c'],
    ['--require=d'],
    ['--experimental-loader=e'],
  ]) {
    t.strictSame(threadArgv(argv, { A: '1' }), { execArgv: [] }, argv.join(' '));
    const NODE_OPTIONS = argv.join(' ');
    const without = { execArgv: [], env: { A: '1' } };
    t.strictSame(threadArgv([], { A: '1', NODE_OPTIONS }), without, NODE_OPTIONS);
    t.strictSame(threadArgv(argv, { A: '1', NODE_OPTIONS }), without, `${NODE_OPTIONS} twice`);
  }
  const NODE_OPTIONS = '--max-semi-space-size=64 --cpu-prof --cpu-prof-name=a-r.txt';
  t.strictSame(threadArgv(['--max-semi-space-size=64', '--cpu-prof'], { NODE_OPTIONS }), {});
  t.strictSame(threadArgv([], {}), {});
});

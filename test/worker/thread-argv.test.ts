import t from 'tap';
import { threadArgv } from '../../src/worker/thread-argv.js';

void t.test(
  'a thread loads nothing that was loaded into the process, and otherwise has its options',
  async (t) => {
    for (const argv of [
      ['--cpu-prof', '--import', './a.js'],
      ['--import=./b.js', '--max-semi-space-size=64'],
      ['-r', 'c'],
      ['--require=d'],
      ['--experimental-loader=e'],
    ])
      t.strictSame(threadArgv(argv), { execArgv: [] }, argv.join(' '));
    t.strictSame(threadArgv(['--max-semi-space-size=64', '--cpu-prof']), {});
    t.strictSame(threadArgv([]), {});
  },
);

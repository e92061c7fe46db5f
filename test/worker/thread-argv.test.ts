import t from 'tap';
import { threadArgv } from '../../src/worker/thread-argv.js';

void t.test('a thread gets the options of the process, save what these load', async (t) => {
  const argv = [
    '--cpu-prof',
    '--import',
    './a.js',
    '--import=./b.js',
    '--cpu-prof-dir=/x',
    '-r',
    'c',
    '--require=d',
  ];
  t.strictSame(threadArgv(argv), ['--cpu-prof', '--cpu-prof-dir=/x']);
  t.strictSame(threadArgv(['--loader', 'e', '--experimental-loader=f', '--enable-source-maps']), [
    '--enable-source-maps',
  ]);
  t.strictSame(threadArgv([]), []);
});

import t from 'tap';
import { parseDuration, durationMs } from '../../src/config/duration.js';
import { isLoopback, parseEndpoint } from '../../src/config/endpoint.js';
import { nearestName } from '../../src/config/nearest-name.js';
import {
  fitDefaults,
  intakeHeap,
  intakeThreads,
  memoryBudget,
  memoryNeed,
  memorySettings,
} from '../../src/config/memory.js';
import { section, size } from '../../src/config/schema.js';
import { formatSize, parseSize, sizeBytes } from '../../src/config/size.js';

void t.test('durations are milliseconds', async (t) => {
  t.strictSame(
    ['0s', '250ms', '15s', '5m', '2h', '30d'].map(parseDuration),
    [0, 250, 15_000, 300_000, 7_200_000, 2_592_000_000],
  );
  for (const wrong of ['', '5', 's', '-1s', '1.5s', '05s', '5 s', '5S', '1h30m', '9999999999999s'])
    t.equal(parseDuration(wrong), undefined, wrong);
  t.throws(() => durationMs('soon'), { name: 'RangeError' });
});

void t.test('sizes are bytes', async (t) => {
  t.strictSame([0, 1024, '0B', '512B', '16MiB', '1GiB'].map(parseSize), [
    0,
    1024,
    0,
    512,
    16 * 2 ** 20,
    2 ** 30,
  ]);
  for (const wrong of [-1, 1.5, Number.NaN, '16', '16MB', '16 MiB', '1.5MiB', '999999999999TiB'])
    t.equal(parseSize(wrong), undefined, String(wrong));
  t.throws(() => sizeBytes('big'), { name: 'RangeError' });
  t.strictSame([0, 1535, 16_384, 2 ** 20, 2 ** 20 + 1, 1.6e9, 2 ** 30].map(formatSize), [
    '0B',
    '1535B',
    '16KiB',
    '1MiB',
    '1024KiB',
    '1525MiB',
    '1GiB',
  ]);
});

void t.test('defaults are shares of little memory, and settings are added up', async (t) => {
  const description = '';
  const schema = section({
    large: size({ description, default: '64MiB', memoryShare: { share: 1 / 32, least: '4MiB' } }),
    nested: section({ fixed: size({ description, default: '1GiB' }) }),
  });
  const largeWith = (memory: number) => fitDefaults(schema, memory).properties.large;
  t.equal(fitDefaults(schema, 2 ** 31), schema, 'unchanged with enough memory');
  t.match(largeWith(2 ** 28), { default: '8MiB' });
  t.match(largeWith(2 ** 20), { default: '4MiB' }, 'never less than the least');
  const settings = memorySettings(['exporters', 'x'], { large: '8MiB', nested: { fixed: '1GiB' } }, schema);
  t.strictSame(settings, [{ key: 'exporters.x.large', bytes: 2 ** 23 }]);
  t.equal(memoryNeed(settings, 0) - memoryNeed([], 0), 2 ** 23);
  t.equal(memoryNeed([], 2) - memoryNeed([], 0), 160 * 2 ** 20, 'each intake thread');
  t.equal(intakeHeap(2, 2 ** 30), 2 ** 27, 'intake threads share a quarter');
  t.equal(intakeHeap(2, Infinity), 2 ** 30);
  t.ok(memoryBudget().bytes > 2 ** 26);
});

void t.test('intake threads follow cores and memory, unless they are configured', async (t) => {
  const threadsOf = (cores: number, gib: number) => intakeThreads('auto', { cores, memory: gib * 2 ** 30 });
  t.strictSame(
    [threadsOf(1, 16), threadsOf(2, 16), threadsOf(4, 16), threadsOf(64, 256)],
    [0, 1, 3, 8],
    'one core is left for the main thread',
  );
  t.strictSame([threadsOf(4, 0.9), threadsOf(4, 1), threadsOf(8, 2.5)], [0, 1, 2], 'one for each GiB');
  t.equal(intakeThreads(5, { cores: 1, memory: 2 ** 20 }), 5);
});

void t.test('endpoints are host and port', async (t) => {
  t.strictSame(parseEndpoint('127.0.0.1:4319'), { host: '127.0.0.1', port: 4319 });
  t.strictSame(parseEndpoint('[::1]:0'), { host: '::1', port: 0 });
  t.strictSame(parseEndpoint(':4319'), { host: '', port: 4319 });
  for (const wrong of [
    '4319',
    'localhost',
    'localhost:',
    'host:65536',
    '::1:80',
    'http://a:1',
    'a b:1',
    '[::1]',
  ])
    t.equal(parseEndpoint(wrong), undefined, wrong);
});

void t.test('loopback is unreachable from other machines', async (t) => {
  const reach = (text: string) => isLoopback(parseEndpoint(text) ?? { host: '', port: 0 });
  t.strictSame(['127.0.0.1:1', '127.9.9.9:1', '[::1]:1', 'localhost:1'].map(reach), [true, true, true, true]);
  t.strictSame(
    [':1', '0.0.0.0:1', '[::]:1', '10.0.0.1:1', 'localhost.evil:1', '127.0.0.1.evil:1'].map(reach),
    Array(6).fill(false),
  );
});

void t.test('suggests the nearest plausible name', async (t) => {
  const names = ['receivers', 'processors', 'exporters', 'endpoint'];
  t.equal(nearestName('recievers', names), 'receivers');
  t.equal(nearestName('Endpoint', names), 'endpoint');
  t.equal(nearestName('endpont', names), 'endpoint');
  t.equal(nearestName('service', names), undefined);
  t.equal(nearestName('x', ['a', 'b']), 'a');
  t.equal(nearestName('xy', ['ab']), undefined);
});

import { randomUUID } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import plugin from '../../plugins/runs-csv/plugin.js';
import {
  conformance,
  factoryOf,
  sampleBatch,
  sectionOf,
  TestClock,
  TestHost,
  TestLogger,
  TestMeter,
} from '../../src/testing/index.js';
import { testFolder } from '../support/test-folder.js';

// @alone: the conformance kit looks at everything that its process has open.

const factory = factoryOf(plugin, 'exporter', 'runs_csv');
const folder = testFolder(t);
const fresh = () => join(folder, `${randomUUID()}.csv`);

void t.test('passes the conformance kit', async (t) => {
  const subject = {
    prepare: () => ({ config: { path: fresh() } }),
    unstartable: { config: { path: '/dev/null/x.csv' }, error: /ENOTDIR|EEXIST/ },
  };
  for (const { name, run } of conformance(factory, subject)) await t.test(name, run);
});

void t.test('writes a line per run, escaped for spreadsheets', async (t) => {
  const path = fresh();
  const columns = [
    'agent',
    'status',
    'duration_ms',
    'spans',
    'total_tokens',
    'total_cost_usd',
    'models',
    'error_message',
  ];
  const exporter = factory.create({
    id: 'runs_csv',
    config: sectionOf(factory, { path, columns }),
    logger: new TestLogger(),
    meter: new TestMeter(),
    clock: new TestClock(),
  });
  await exporter.start?.(new TestHost());
  const batch = sampleBatch('traces', 3);
  const [first, second, third] = batch.items;
  if (!first || !second || !third) throw new Error('never');
  Object.assign(first.trace, {
    agent: '=HYPERLINK("http://x")',
    total_tokens: null,
    total_cost_usd: 1_250_000_000,
  });
  Object.assign(second.trace, {
    agent: 'a, b',
    status: 'failed',
    error_message: 'two\nlines',
    total_cost_usd: null,
  });
  third.trace.status = 'running';
  t.match(await exporter.inputs.traces?.consume(batch, { receivedAt: 0 }), { accepted: 3 });
  t.match(await exporter.inputs.traces?.consume(sampleBatch('traces', 1), { receivedAt: 0 }), {
    accepted: 1,
  });
  await exporter.shutdown?.(new AbortController().signal);
  t.strictSame(readFileSync(path, 'utf8').split('\r\n'), [
    columns.join(','),
    `"'=HYPERLINK(""http://x"")",completed,1000,2,84,1.25,gpt-5,`,
    '"a, b",failed,1000,2,42,,gpt-5,"two\nlines"',
    'researcher,completed,1000,2,42,,gpt-5,',
    '',
  ]);
  t.equal(statSync(path).mode & 0o777, 0o600);
});

import { join } from 'node:path';
import t from 'tap';
import { builtinFactories } from '../../../../src/builtin.js';
import { DEFAULT_CONFIG } from '../../../../src/cli/default-config.js';
import { ConfigError, formatProblem } from '../../../../src/config/config-error.js';
import { prepare } from '../../../../src/pipeline/prepare.js';
import { environmentOf } from '../../../support/config-problems.js';
import { spawnDaemon, type DaemonProcess } from '../../../support/process.js';
import { anItem, type Item } from '../../../support/trace-batch.js';
import { until } from '../../../support/until.js';

const overlay = (directory: string, wait: string, processors: string): string => `processors:
  sample/tail: { wait: ${wait}, after_end: ${wait}, percentage: 0, keep: ['trace.status == "failed"'], directory: '${directory}' }
service: { pipelines: { traces: { receivers: [trace_batch, otlp], processors: [${processors}], exporters: [storage] } } }
`;
const ORDER = 'validation, cost, sample/tail, quota, service_map';

async function send(daemon: DaemonProcess, items: readonly Item[]): Promise<void> {
  const response = await fetch(`${daemon.url}/api/v1/traces/batch`, {
    method: 'POST',
    headers: { authorization: `Bearer ${daemon.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ traces: items }),
  });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
}

async function runs(
  daemon: DaemonProcess,
): Promise<{ count: number; items: { status: string; sample_rate: number }[] }> {
  const response = await fetch(`${daemon.url}/api/v1/dashboard/traces?page_size=100`, {
    headers: { authorization: `Bearer ${daemon.key}` },
  });
  return (await response.json()) as { count: number; items: { status: string; sample_rate: number }[] };
}

void t.test('undecided acknowledged runs are decided after a kill', async (t) => {
  const folder = t.testdir({ store: {} });
  const directory = join(folder, 'held');
  const first = await spawnDaemon(t, {
    directory: join(folder, 'store'),
    overlay: overlay(directory, '1h', ORDER),
  });
  for (let i = 0; i < 10; i++)
    await send(
      first,
      ['failed', 'completed', 'completed'].map((status) => anItem({ trace: { status }, spans: 3 })),
    );
  t.equal((await runs(first)).count, 0);
  await first.stop('SIGKILL');
  const second = await spawnDaemon(t, {
    directory: first.directory,
    key: first.key,
    overlay: overlay(directory, '10ms', ORDER),
  });
  await until('ten runs are kept', async () => (await runs(second)).count === 10);
  const { items } = await runs(second);
  t.ok(items.every(({ status, sample_rate }) => status === 'failed' && sample_rate === 1));
  const usage = await fetch(`${second.url}/api/v1/usage`, {
    headers: { authorization: `Bearer ${second.key}` },
  });
  t.match(await usage.json(), { used: 30 }, 'only kept runs count: the spans of ten runs');
});

void t.test('must precede quota and service_map', async (t) => {
  const problems = async (processors: string): Promise<readonly string[]> => {
    const source = { file: 'a.yaml', text: overlay('./held', '1s', processors) };
    try {
      await prepare([DEFAULT_CONFIG, source], environmentOf({}), builtinFactories);
      return [];
    } catch (error) {
      if (error instanceof ConfigError) return error.problems.map(formatProblem);
      throw error;
    }
  };
  t.strictSame(await problems(ORDER), []);
  t.strictSame(await problems('validation, quota, sample/tail, service_map'), [
    'a.yaml:3:99: error: service.pipelines.traces.processors[2]: "sample/tail" creates new batches, and "quota" does not see them: list "sample/tail" before "quota"',
  ]);
});

import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { ApiCaller } from '../../support/api-caller.js';
import { runCli, spawnDaemon } from '../../support/process.js';
import { testFolder } from '../../support/test-folder.js';
import { anItem } from '../../support/trace-batch.js';
import { until } from '../../support/until.js';
import { completion, evaluateOverlay, startJudge } from './judge-endpoint.js';

const RUNS = 16;
const KILLS = 2;

interface Run {
  readonly scores: readonly { readonly id: string; readonly name: string }[];
}

t.setTimeout(300_000);

void t.test('a killed daemon resumes: every run has each score once', async (t) => {
  const endpoint = await startJudge(t);
  endpoint.answer = () => completion({ explanation: 'Good.', score: 1 });
  const directory = testFolder(t);
  const overlay = evaluateOverlay({
    directory: join(directory, 'evaluate'),
    judge: { url: endpoint.url, model: 'gpt-5-mini' },
    evaluators: [
      { name: 'helpful', judge: { prompt: '{{output}}' } },
      { name: 'short', expression: 'size(trace.spans) < 3' },
    ],
    queue: { type: 'disk', directory: join(directory, 'queue'), concurrency: 2 },
  });
  const items = Array.from({ length: RUNS }, () => anItem({}));
  let daemon = await spawnDaemon(t, { directory, overlay });
  const { key } = daemon;
  await new ApiCaller(daemon.url, key).send(items);
  for (let kill = 1; kill <= KILLS; kill++) {
    const before = endpoint.requests.length;
    await endpoint.received(before + 3);
    // Between the answer of the judge and the commit of the score, or after it.
    await wait(Math.random() * 20);
    await daemon.stop('SIGKILL');
    daemon = await spawnDaemon(t, { directory, overlay, key });
  }
  const api = new ApiCaller(daemon.url, key);
  const runs = async (): Promise<readonly Run[]> =>
    await Promise.all(
      items.map(({ trace }) => api.get<Run>(`/dashboard/traces/${trace.trace_id as string}`)),
    );
  await endpoint.received(RUNS);
  await until('all runs are scored', async () => {
    // Reads have to leave time for the evaluations on a busy machine.
    await wait(500);
    return (await runs()).every(({ scores }) => scores.length >= 2);
  });
  const env = { JACKDAW_URL: daemon.url, JACKDAW_KEY: key };
  const filled = await runCli(['evaluate', '--since', '3650d', '--json'], { env });
  t.match(filled, { code: 0, stdout: new RegExp(`"existing": ${2 * RUNS}\\b`) });
  for (const { scores } of await runs())
    t.same(scores.map(({ name }) => name).toSorted(), ['helpful', 'short']);
  t.ok(endpoint.requests.length <= RUNS + KILLS * 2, 'only calls that were under way at a kill are repeated');
});

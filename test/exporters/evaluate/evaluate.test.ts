import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { Component } from '../../../src/component/component.js';
import type { ExtensionFactory } from '../../../src/component/factory.js';
import type { Clock } from '../../../src/component/telemetry.js';
import { section } from '../../../src/config/schema.js';
import type { RunEvaluator } from '../../../src/exporters/evaluate/evaluator.js';
import { MICROS_PER_DAY } from '../../../src/signal/time-units.js';
import { systemClock } from '../../../src/telemetry/system-clock.js';
import { ApiCaller } from '../../support/api-caller.js';
import { runInProcess } from '../../support/cli.js';
import { startTestDaemon } from '../../support/daemon.js';
import { metricValues } from '../../support/engine.js';
import { testFolder } from '../../support/test-folder.js';
import { anItem, type Item } from '../../support/trace-batch.js';
import { until } from '../../support/until.js';
import { completion, evaluateOverlay, startJudge } from './judge-endpoint.js';

interface Score {
  readonly id: string;
  readonly name: string;
  readonly span_id: string | null;
  readonly value: number | null;
  readonly label: string | null;
  readonly comment: string | null;
  readonly error_type: string | null;
  readonly source: string;
  readonly metadata: Readonly<Record<string, unknown>> | null;
}
interface Run {
  readonly trace_id: string;
  readonly agent_name: string;
  readonly kind: string;
  readonly success: boolean | null;
  readonly total_tokens: number | null;
  readonly total_cost_usd: number | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly scores: readonly Score[];
}
interface Reply {
  readonly cost: number;
  readonly runs: readonly {
    readonly state: string;
    readonly evaluations: readonly { readonly evaluator: string; readonly result: string }[];
  }[];
}

const checker: ExtensionFactory = {
  kind: 'extension',
  type: 'checker',
  description: 'Scores runs by the number of their spans.',
  stability: 'development',
  configSchema: section({}),
  create: (): Component & RunEvaluator => ({
    start: async () => undefined,
    evaluateRun: async ({ run }) => {
      if (run.trace.agent === 'stuck') await new Promise(() => undefined);
      if (run.trace.agent === 'odd') return { value: NaN };
      if (run.trace.agent === 'unsure') return null;
      if (run.spans.length > 2) throw new Error('too many');
      return { value: run.spans.length, label: 'counted' };
    },
  }),
};

interface More {
  readonly directory?: string;
  readonly key?: string;
  readonly clock?: Clock;
  readonly types?: readonly string[];
  /** More of the configuration, merged over the rest. */
  readonly over?: { readonly processors: object; readonly logs: readonly string[] };
}

async function start(t: Test, keys: object, { types, over, ...more }: More = {}) {
  const directory = more.directory ?? testFolder(t);
  const daemon = await startTestDaemon(t, {
    ...more,
    directory,
    factories: [checker],
    overlay: evaluateOverlay({ directory: join(directory, 'evaluate'), ...keys }, types, ['checker'], over),
  });
  const api = new ApiCaller(daemon.url, daemon.key);
  const run = async ({ trace }: Item): Promise<Run> =>
    await api.get<Run>(`/dashboard/traces/${trace.trace_id as string}`);
  const scores = async (item: Item): Promise<readonly Score[]> => (await run(item)).scores;
  const judged = async (): Promise<readonly Run[]> =>
    (await api.get<{ items: readonly Run[] }>('/dashboard/traces?kind=other')).items;
  const evaluate = async (json: object): Promise<Reply> => {
    const { status, body } = await api.call('POST', '/evaluations', { json });
    t.equal(status, 200, JSON.stringify(body));
    return body as Reply;
  };
  const env = { JACKDAW_URL: daemon.url, JACKDAW_KEY: daemon.key };
  const command = (...args: string[]) => runInProcess(['evaluate', '--since', '3650d', ...args], env);
  return { ...daemon, api, run, scores, judged, evaluate, command };
}

// Long on a machine that also runs others.
t.setTimeout(300_000);

/** For evaluators without labels. */
const GOOD_SCORE = { explanation: 'Good.', score: 0.75 };

const JUDGE = (url: string) => ({ url, model: 'gpt-5-mini', api_key: 'sk-secret-of-the-judge' });

void t.test('ended runs are scored once by every kind of evaluator', async (t) => {
  const endpoint = await startJudge(t);
  const { api, run, scores, judged, evaluate, command, meter, logs } = await start(t, {
    judge: JUDGE(endpoint.url),
    evaluators: [
      {
        name: 'helpful',
        when: 'trace.agent == "support"',
        judge: {
          prompt: 'Q: {{input}} A: {{ output }} E: {{error}} plan {{metadata.plan}}',
          labels: ['good', 'bad'],
        },
      },
      { name: 'tokens', expression: '{"value": trace.total_tokens, "comment": trace.spans[0].model}' },
      { name: 'quick', item: 'span', when: 'span.type == "llm"', expression: 'span.duration_ms < 2000.0' },
      { name: 'broken', expression: 'trace.metadata.missing == 1' },
      { name: 'never', percentage: 0, expression: '1' },
      { name: 'half', percentage: 50, expression: '"in"' },
    ],
  });
  const support = anItem({ trace: { agent: 'support', metadata: { plan: '{{error}}' } } });
  const others = Array.from({ length: 20 }, () => anItem({}));
  await api.send([support, ...others]);
  for (const item of [support, ...others])
    await until('it has its scores', async () => (await scores(item)).some(({ name }) => name === 'quick'));
  await until('the judge has scored', async () => (await scores(support)).length >= 3);

  const own = (await run(support)).scores;
  const byName = (name: string) => own.find((score) => score.name === name);
  t.match(byName('helpful'), {
    value: 0.75,
    label: 'good',
    comment: 'Clear and right.',
    source: 'evaluator',
    span_id: null,
    metadata: { evaluator_version: '1', judge_model: 'gpt-5-mini' },
  });
  t.match(byName('tokens'), { value: 120, comment: 'model-one' });
  t.match(byName('quick'), { value: 1, span_id: support.spans[0]?.span_id });
  t.notOk(own.some(({ name }) => name === 'broken' || name === 'never'));
  t.match(JSON.parse(endpoint.requests[0]?.body ?? ''), {
    messages: [
      {},
      { content: /^Q: \{"messages".*sky blue.* A: Because of Rayleigh scattering\. E: {2}plan \{\{error}}$/ },
    ],
  });
  const halves = await Promise.all(
    others.map(async (item) => (await scores(item)).some((one) => one.name === 'half')),
  );
  t.ok(halves.includes(true) && halves.includes(false), 'a part of the runs');

  const [call, ...more] = await judged();
  t.same(more, [], 'runs of the judge are not judged');
  t.match(call, {
    kind: 'other',
    agent_name: 'evaluator helpful',
    total_tokens: 1010,
    total_cost_usd: 0.00027,
  });
  t.equal(call?.trace_id, byName('helpful')?.metadata?.['judge_trace_id']);
  t.match(await evaluate({ trace_ids: [call?.trace_id] }), { runs: [{ state: 'judge_run' }] });

  const trace_ids = [support.trace.trace_id];
  const again = await evaluate({ trace_ids });
  t.match(
    again.runs[0]?.evaluations.filter(({ result }) => result !== 'existing'),
    [{ evaluator: 'broken', result: 'unscored' }],
  );
  t.equal(endpoint.requests.length, 1);
  t.equal((await scores(support)).length, own.length);
  const back = await command('--dry-run');
  t.match(back, { code: 0, stdout: /^Looked at 21 runs; the judge cost \$0.0000\.\n/ });
  t.match(
    back.stdout,
    /already scored: \d+\n.*to be scored: 21/s,
    'only the expression that fails has no score',
  );
  const values = await metricValues(meter, 'jackdaw_evaluations_total');
  t.equal(values['jackdaw_evaluations_total{exporter="evaluate",evaluator="helpful",result="scored"}'], 1);
  t.notMatch(logs.join('\n'), 'sk-secret');
});

void t.test('jackdaw evaluate scores what is stored, within the limit of the day', async (t) => {
  const endpoint = await startJudge(t);
  endpoint.answer = () => completion(GOOD_SCORE);
  const directory = testFolder(t);
  const keys = {
    judge: { ...JUDGE(endpoint.url), max_cost_per_day: 0.0005 },
    evaluators: [
      { name: 'helpful', when: 'trace.agent == "later"', judge: { prompt: '{{output}}' } },
      { name: 'counted', version: 2, extension: 'checker' },
    ],
  };
  const first = await start(t, keys, { directory, types: [] });
  const later = Array.from({ length: 5 }, () => anItem({ trace: { agent: 'later' } }));
  await first.api.send([...later, anItem({ spans: 3 }), anItem({ spans: 2 })]);

  const wrong = await first.command('--where', 'trace.agnt == "x"');
  t.match(wrong, { code: 2, stderr: /"agnt"/ });
  t.match(await first.command('--evaluator', 'x'), { code: 2, stderr: /must be one of helpful, counted/ });
  t.match(await first.command('--where', 'trace.agent == "x"'), { code: 0, stdout: /^Looked at 7 runs/ });
  t.match(await first.command('--exporter', 'other'), { code: 2, stderr: /evaluate or evaluate\/NAME/ });
  t.match(await first.command('--exporter', 'evaluate/other'), {
    code: 1,
    stderr: /has no exporter "evaluate\/other"/,
  });
  t.match(await first.command('--dry-run', '--json'), { code: 0, stdout: /"matched": 12/ });
  t.equal(endpoint.requests.length, 0);

  const done = await first.command();
  t.equal(done.code, 1);
  t.match(done.stdout, /scored: 8\n/);
  t.match(done.stdout, /failed: 1 \(too many\)\n/);
  t.match(done.stdout, /daily budget reached: 3 \(The judge has reached max_cost_per_day\.\)\n/);
  t.match(done.stdout, /the judge cost \$0\.0005\./);
  t.equal(endpoint.requests.length, 2);
  await first.daemon.shutdown();

  let isTomorrow = false;
  const clock: Clock = {
    now: () => systemClock.now() + (isTomorrow ? MICROS_PER_DAY : 0),
    after: (ms, callback) => systemClock.after(ms, callback),
  };
  const second = await start(t, keys, { directory, key: first.key, clock, types: [] });
  // A reload replaces the exporter, which keeps its route and the cost of the day.
  writeFileSync(join(directory, 'reload.yaml'), 'exporters: { evaluate: { timeout: 4m } }');
  t.match(await second.api.call('POST', '/admin/reload'), { status: 200, body: { result: 'applied' } });
  t.match(await second.command('--evaluator', 'helpful'), {
    code: 1,
    stdout: /already scored: 2\n.*daily budget reached: 3 /s,
  });
  isTomorrow = true;
  t.match(await second.command('--repeat-failed'), { code: 1, stdout: /scored: 2\n/ });
  t.equal(endpoint.requests.length, 4);
  const scored = await Promise.all(later.map(async (item) => await second.scores(item)));
  t.equal(scored.flat().filter(({ name }) => name === 'helpful').length, 4);
  t.equal(scored.flat().filter(({ name }) => name === 'counted').length, 5);
  t.equal((await second.judged()).length, 4);
});

void t.test(
  'a failing judge is retried; then the run is a dead letter, or the failure is recorded',
  async (t) => {
    const endpoint = await startJudge(t);
    const queue = testFolder(t);
    const { api, scores, meter, command } = await start(t, {
      judge: JUDGE(endpoint.url),
      evaluators: [
        { name: 'helpful', judge: { prompt: '{{agent}}' } },
        { name: 'free', expression: 'true' },
      ],
      queue: { type: 'disk', directory: queue },
      retry: { initial_interval: '5ms', max_interval: '20ms', max_attempts: 3 },
    });
    const attempts = new Map<string, number>();
    endpoint.answer = ({ body }) => {
      const agent = /"content":"(\w+)"/.exec(body)?.[1] ?? '';
      const attempt = (attempts.get(agent) ?? 0) + 1;
      attempts.set(agent, attempt);
      if (agent === 'down') return { status: 500 };
      if (agent === 'refused') return { status: 400, body: '{"error":"context length"}' };
      if (agent === 'odd') return completion('Good!');
      return attempt === 1 ? { status: 429, headers: { 'retry-after': '0' } } : completion(GOOD_SCORE);
    };
    const [busy, refused, odd, down] = ['busy', 'refused', 'odd', 'down'].map((agent) =>
      anItem({ trace: { agent } }),
    ) as [Item, Item, Item, Item];
    await api.send([busy, refused, odd, down]);
    const helpful = async (item: Item) => (await scores(item)).find(({ name }) => name === 'helpful');
    for (const item of [busy, refused, odd])
      await until('it has a score', async () => (await helpful(item)) !== undefined);
    t.match(await helpful(busy), { value: 0.75, error_type: null });
    t.match(await helpful(refused), {
      value: null,
      error_type: 'judge_refused',
      comment: /400: .*context length/,
    });
    t.match(await helpful(odd), { value: null, error_type: 'invalid_answer', comment: /no JSON/ });
    const letters = join(queue, 'evaluate', 'dead-letters');
    await until('it is a dead letter', () => readdirSync(letters).some((name) => name.endsWith('.dead')));
    t.equal(attempts.get('down'), 3);
    t.match(await scores(down), [{ name: 'free', value: 1 }], 'the other evaluators scored it once');
    t.equal((await scores(down)).length, 1);
    const values = await metricValues(meter, 'jackdaw_eval');
    t.match(values, {
      'jackdaw_evaluations_total{exporter="evaluate",evaluator="helpful",result="failed"}': 2,
      'jackdaw_evaluations_total{exporter="evaluate",evaluator="helpful",result="postponed"}': 4,
      'jackdaw_evaluate_judge_requests_total{exporter="evaluate",result="refused"}': 5,
    });

    endpoint.answer = () => completion(GOOD_SCORE);
    const made = await command('--evaluator', 'helpful', '--repeat-failed');
    t.match(made, { code: 0, stdout: /scored: 3\n/ });
    t.match(await helpful(odd), { value: 0.75, error_type: null }, 'replaces the failure');
  },
);

void t.test('a plugin that never answers is given up, and blocks no other evaluation', async (t) => {
  const endpoint = await startJudge(t);
  endpoint.answer = () => completion(GOOD_SCORE);
  const { api, evaluate, scores, logs } = await start(
    t,
    {
      timeout: '1s',
      judge: JUDGE(endpoint.url),
      evaluators: [
        { name: 'counted', extension: 'checker' },
        { name: 'helpful', when: 'trace.agent == "stuck"', judge: { prompt: '{{output}}' } },
        { name: 'share', expression: 'double(size(trace.spans)) / 0.0' },
        { name: 'typo', expression: '{"score": 1}' },
        { name: 'free', expression: 'true' },
      ],
    },
    { types: [] },
  );
  const [stuck, odd, unsure] = ['stuck', 'odd', 'unsure'].map((agent) => anItem({ trace: { agent } })) as [
    Item,
    Item,
    Item,
  ];
  await api.send([stuck, odd, unsure]);
  const trace_ids = [stuck.trace.trace_id];
  const results = ({ runs }: Reply) =>
    Object.fromEntries(runs.flatMap((run) => run.evaluations.map((one) => [one.evaluator, one.result])));
  const given = { counted: 'postponed', share: 'unscored', typo: 'unscored', free: 'scored' };
  t.same(results(await evaluate({ trace_ids })), { ...given, helpful: 'scored' });
  const dry = results(await evaluate({ trace_ids, dry_run: true }));
  t.match(dry, { counted: 'matched', free: 'existing' }, 'nothing is under way');
  const rest = results(await evaluate({ trace_ids: [odd.trace.trace_id] }));
  t.same(rest, { ...given, counted: 'failed' }, 'NaN is no score');
  const none = results(await evaluate({ trace_ids: [unsure.trace.trace_id] }));
  t.same(none, { ...given, counted: 'unscored' });
  const types = new Map((await scores(odd)).map((score) => [score.name, score.error_type]));
  t.same([types.size, types.get('counted'), types.get('free')], [2, 'evaluator_failed', null]);
  t.match(logs.join('\n'), /An extension gave no answer in time/);
  t.match(logs.join('\n'), /expression="share.expression" code="not_finite"/);
  t.match(logs.join('\n'), /expression="typo.expression" code="no_score"/);
});

void t.test('scores pass pipelines: redacted, filtered, decisive and counted', async (t) => {
  const processors = {
    redact: { builtin: ['email'] },
    filter: { logs: ['log.attributes["gen_ai.evaluation.name"] == "noise"'] },
    success_from: { score: 'toxicity', at_most: 0.2 },
    quota: { count: ['spans', 'log_records'] },
  };
  const keys = {
    evaluators: [
      { name: 'mail', expression: '{"value": 1, "comment": "asked a@example.org"}' },
      { name: 'noise', expression: '1' },
      { name: 'toxicity', expression: '0.5' },
    ],
  };
  const logs = ['validation', 'redact', 'filter', 'success_from', 'quota'];
  const { api, run, evaluate } = await start(t, keys, { types: [], over: { processors, logs } });
  const item = anItem({ trace: { success: undefined } });
  const other = anItem({ trace: { success: undefined } });
  await api.send([item, other]);
  const [first] = (await evaluate({ trace_ids: [item.trace.trace_id] })).runs;
  t.same(
    first?.evaluations.map(({ result }) => result),
    ['scored', 'scored', 'scored'],
  );
  const { success, scores } = await run(item);
  t.equal(success, false, 'more than at_most');
  t.same(scores.map(({ name }) => name).toSorted(), ['mail', 'success', 'toxicity']);
  t.notMatch(JSON.stringify(scores), 'a@example.org');
  const { used } = await api.get<{ used: number }>('/usage');
  t.equal(used, item.spans.length + other.spans.length + scores.length);

  const { user } = await api.get<{ user: { id: string } }>('/me');
  const limited = await api.call('PATCH', `/admin/users/${user.id}`, { json: { monthly_event_limit: used } });
  t.equal(limited.status, 200);
  const [second] = (await evaluate({ trace_ids: [other.trace.trace_id] })).runs;
  t.match(second?.evaluations, [
    { evaluator: 'mail', result: 'refused', reason: /quota|limit/i },
    { result: 'refused' },
    { result: 'refused' },
  ]);
  t.same((await run(other)).scores, []);
});

void t.test('a stored prompt is that of the user, and each of its versions scores once', async (t) => {
  const endpoint = await startJudge(t);
  endpoint.answer = () => completion(GOOD_SCORE);
  const { api, scores, evaluate } = await start(t, {
    judge: JUDGE(endpoint.url),
    evaluators: [{ name: 'tone', judge: { stored_prompt: { name: 'tone', label: 'production' } } }],
  });
  const item = anItem({});
  await api.send([item]);
  const evaluated = async (result: string): Promise<void> => {
    const reply = await evaluate({ trace_ids: [item.trace.trace_id] });
    t.match(reply, { runs: [{ evaluations: [{ evaluator: 'tone', result }] }] });
  };
  await evaluated('no_prompt');
  const chat = [
    { role: 'system', content: 'Judge the tone.' },
    { role: 'user', content: 'Of: {{output}}' },
  ];
  for (const [version, prompt, result] of [
    [1, { template_text: 'First: {{output}}' }, 'scored'],
    [2, { messages: chat }, 'scored'],
    [3, { template_text: '{{what}}' }, 'no_prompt'],
  ] as const) {
    const json = { name: 'tone', version, ...prompt };
    t.equal((await api.call('POST', '/dashboard/prompts/', { json })).status, 201);
    await evaluated(version === 1 ? 'no_prompt' : 'existing');
    const label = { json: { version } };
    t.equal((await api.call('PUT', '/dashboard/prompts/tone/labels/production', label)).status, 200);
    await evaluated(result);
  }
  t.match(JSON.parse(endpoint.requests[1]?.body ?? ''), {
    messages: [{}, chat[0], { role: 'user', content: 'Of: Because of Rayleigh scattering.' }],
  });
  t.same((await scores(item)).map(({ metadata }) => metadata?.['evaluator_version']).toSorted(), [
    '1, prompt 1',
    '1, prompt 2',
  ]);
});

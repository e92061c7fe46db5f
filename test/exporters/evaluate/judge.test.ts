import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { AddressPolicy } from '../../../src/delivery/senders/webhook/address-policy.js';
import { WebhookSender } from '../../../src/delivery/senders/webhook/sender.js';
import {
  checkEvaluate,
  evaluateConfig,
  type EvaluateConfig,
} from '../../../src/exporters/evaluate/config.js';
import { Judge, MAX_ANSWER_BYTES, rubricOf, type Verdict } from '../../../src/exporters/evaluate/judge.js';
import { Spending } from '../../../src/exporters/evaluate/spending.js';
import type { Price } from '../../../src/signal/price.js';
import { systemClock } from '../../../src/telemetry/system-clock.js';
import { sectionOf, TestMeter } from '../../../src/testing/index.js';
import { HandClock } from '../../support/hand-clock.js';
import type { JsonEndpoint } from '../../support/json-endpoint.js';
import { testFolder } from '../../support/test-folder.js';
import { completion, GOOD, startJudge } from './judge-endpoint.js';

/** 1 USD for a million input tokens, 10 for output. */
const PRICE: Price = {
  input: 1_000_000,
  cached_read: 500_000,
  cached_write: 1_000_000,
  audio_input: 1_000_000,
  output: 10_000_000,
  audio_output: 10_000_000,
  long: null,
};
const KEY = 'sk-secret-of-the-judge';

async function openJudge(t: Test, endpoint: JsonEndpoint, keys: object = {}) {
  const file = join(testFolder(t), 'evaluate', 'cost.json');
  const clock = new HandClock();
  const spending = await Spending.open(file, clock);
  const section = { url: `${endpoint.url}/v1/`, model: 'model-j', api_key: KEY, ...keys };
  const { judge: config } = sectionOf({ configSchema: evaluateConfig } as never, {
    judge: section,
  }) as never as {
    judge: ConstructorParameters<typeof Judge>[0]['config'];
  };
  const transport = new WebhookSender({
    policy: new AddressPolicy(['127.0.0.0/8']),
    trusted: [],
    timeoutMs: 10_000,
    connectTimeoutMs: 5000,
    maxResponseBytes: MAX_ANSWER_BYTES,
    clock: systemClock,
    transport: { allowsPlain: true },
  });
  t.teardown(() => transport.close());
  const priceOf = (model: string) =>
    model === 'model-j' ? { rule: 'prices.yaml:1 model-j', provider: null, price: PRICE } : undefined;
  const judge = new Judge({
    ...{ exporter: 'evaluate', config, transport, spending, priceOf, clock },
    meter: new TestMeter(),
  });
  const rubric = rubricOf({ prompt: 'x', min: 0, max: 1, labels: ['good', 'bad'] });
  const ask = (prompt = 'Is it good?', abort = new AbortController().signal): Promise<Verdict> =>
    judge.ask([{ role: 'user', content: prompt }], rubric, abort);
  return { ask, judge, rubric, spending, clock, file };
}

void t.test('asks for a score by a schema, and prices the call', async (t) => {
  const endpoint = await startJudge(t);
  const { ask, file } = await openJudge(t, endpoint, { parameters: { temperature: 0, model: 'ignored' } });
  const verdict = await ask();
  t.match(verdict, {
    result: 'scored',
    judgement: { value: 0.75, label: 'good', comment: 'Clear and right.' },
    call: {
      usage: { input_tokens: 1000, output_tokens: 10 },
      cost: { total: 1_100_000, rule: 'prices.yaml:1 model-j' },
    },
  });
  const [request] = endpoint.requests;
  t.equal(request?.line, 'POST /v1/chat/completions');
  t.equal(request?.headers.authorization, `Bearer ${KEY}`);
  t.match(JSON.parse(request?.body ?? ''), {
    model: 'model-j',
    temperature: 0,
    messages: [{ role: 'system' }, { role: 'user', content: 'Is it good?' }],
    response_format: {
      type: 'json_schema',
      json_schema: {
        strict: true,
        schema: {
          properties: { score: { minimum: 0, maximum: 1 }, label: { enum: ['good', 'bad'] } },
          required: ['explanation', 'score', 'label'],
        },
      },
    },
  });
  t.match(JSON.parse(readFileSync(file, 'utf8')), { date: '2026-01-15', nano_usd: 1_100_000 });
});

void t.test('an answer that does not fit is a failure and costs nevertheless', async (t) => {
  const endpoint = await startJudge(t);
  const { ask, spending } = await openJudge(t, endpoint, { answer_format: 'json_object' });
  const cases: readonly (readonly [unknown, RegExp])[] = [
    ['I think it is good.', /no JSON/],
    ['', /no JSON/],
    ['[]', /must be object/],
    [{ ...GOOD, score: 2 }, /\/score must be <= 1/],
    [{ ...GOOD, score: 'high' }, /\/score must be number/],
    [{ ...GOOD, label: 'great' }, /\/label must be equal/],
    [{ score: 1, label: 'good' }, /explanation/],
    [{ ...GOOD, more: 1 }, /additional/],
  ];
  for (const [content, reason] of cases) {
    endpoint.answer = () => completion(content);
    t.match(await ask(), { result: 'failed', error: 'invalid_answer', reason, call: { model: 'model-j' } });
  }
  t.equal(spending.today, cases.length * 1_100_000);
  t.match(JSON.parse(endpoint.requests[0]?.body ?? ''), {
    response_format: { type: 'json_object' },
    messages: [{ content: /JSON object of this schema: \{"type":"object"/ }, {}],
  });
  const long = { ...GOOD, explanation: 'x'.repeat(MAX_ANSWER_BYTES) };
  endpoint.answer = () => completion(long);
  t.match(await ask(), { result: 'failed', error: 'invalid_answer', reason: /longer than 65536 bytes/ });
  endpoint.answer = () => ({ status: 400, body: `context too long; your key is ${KEY}` });
  const refused = await ask();
  t.match(refused, { result: 'failed', error: 'judge_refused', reason: /400: context too long/, call: null });
  t.notMatch(JSON.stringify(refused), KEY);
});

void t.test('evaluators need pipelines for scores and calls', async (t) => {
  const config = sectionOf({ configSchema: evaluateConfig } as never, {
    evaluators: [{ name: 'helpful', judge: { prompt: '{{output}}' } }],
    judge: { url: 'https://api.example.com', model: 'm' },
  }) as never as EvaluateConfig;
  t.match(checkEvaluate(config), [
    { path: '/pipelines', message: /a pipeline of logs for the scores/ },
    { path: '/pipelines', message: /a pipeline of traces for the calls/ },
  ]);
  t.same(checkEvaluate({ ...config, pipelines: ['logs', 'traces/judge'] }), []);
});

void t.test('key and headers of the judge are cut from what it answers and is asked', async (t) => {
  const endpoint = await startJudge(t);
  const header = 'header-secret-1';
  const { ask } = await openJudge(t, endpoint, { headers: { 'x-auth': header } });
  endpoint.answer = () => completion({ ...GOOD, explanation: `I was called with ${KEY} and ${header}.` });
  const verdict = await ask(`The agent printed ${KEY}.`);
  t.match(verdict, { judgement: { comment: 'I was called with *** and ***.' } });
  t.notMatch(JSON.stringify(verdict), new RegExp(`${KEY}|${header}`));
});

void t.test('failures that may pass are retryable, with the wait that the API requests', async (t) => {
  const endpoint = await startJudge(t);
  const { ask, spending } = await openJudge(t, endpoint);
  for (const [answer, expected] of [
    [
      { status: 429, headers: { 'retry-after': '7' } },
      { retryAfterMs: 7000, needsOperator: false },
    ],
    [{ status: 503 }, { retryAfterMs: undefined, needsOperator: false }],
    [
      { status: 401, body: KEY },
      { needsOperator: true, message: /check judge.api_key/ },
    ],
    [{ status: 404 }, { needsOperator: true, message: /judge.model/ }],
    [
      { status: 302, headers: { location: '/' } },
      { needsOperator: true, message: /answered 302: .*judge\.url/ },
    ],
    [
      { status: 200, body: '<html>' },
      { needsOperator: true, message: /check judge.url/ },
    ],
  ] as const) {
    endpoint.answer = () => answer;
    const error = await ask().then(String, (caught: unknown) => caught as Error);
    t.match(error, { name: 'ConsumeError', retryable: true, ...expected });
    t.notMatch(String(error), KEY);
  }
  t.equal(spending.today, 0);
});

void t.test('the daily limit holds over a restart and ends with the day', async (t) => {
  const endpoint = await startJudge(t);
  const limit = { max_cost_per_day: 0.002 };
  const { ask, clock, file, judge, rubric } = await openJudge(t, endpoint, limit);
  t.equal((await ask()).result, 'scored');
  t.equal((await ask()).result, 'scored', 'the limit is not reached yet');
  t.match(await ask(), { result: 'over_budget', reason: /max_cost_per_day/ });
  t.equal(endpoint.requests.length, 2);
  t.equal((await Spending.open(file, clock)).today, 2_200_000);
  const other = { ...rubric, model: 'model-x' };
  t.match(await judge.ask([], other, new AbortController().signal), {
    result: 'no_price',
    reason: /must contain model-x/,
  });
  clock.advance(12 * 3600 * 1000);
  t.equal((await ask()).result, 'scored', 'on the next day');
  writeFileSync(file, '{}');
  await t.rejects(Spending.open(file, clock), /is damaged: delete it/);
});

void t.test('an answer without usage is estimated for the limit', async (t) => {
  const endpoint = await startJudge(t);
  const { ask, spending } = await openJudge(t, endpoint, { max_cost_per_day: 1 });
  const { body } = completion(GOOD);
  endpoint.answer = () => ({ status: 200, body: body.replace(/"usage".*$/, '"usage":null}') });
  t.match(await ask('x'.repeat(4000)), { result: 'scored', call: { cost: null } });
  t.ok(spending.today > 1_000_000);
});

void t.test('limits concurrent requests', async (t) => {
  const endpoint = await startJudge(t);
  const { ask } = await openJudge(t, endpoint, { max_concurrency: 1 });
  const interrupt = new AbortController();
  const first = ask();
  const second = ask('second', interrupt.signal).catch((error: unknown) => error);
  const third = ask('third');
  interrupt.abort();
  t.match(await second, { name: 'ConsumeError', retryable: true });
  t.match(await Promise.all([first, third]), [{ result: 'scored' }, { result: 'scored' }]);
  t.equal(endpoint.requests.length, 2);
});

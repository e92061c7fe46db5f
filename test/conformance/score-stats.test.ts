import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { callKey } from '../../src/signal/call-key.js';
import { invariant } from '../../src/signal/checked.js';
import type { JsonObject } from '../../src/signal/attributes.js';
import { EVALUATION_EVENT, SCORE_ID } from '../../src/signal/score.js';
import type { LogRecord } from '../../src/signal/log-record.js';
import type { TraceRecord } from '../../src/signal/trace.js';
import type { ScoreCondition, ScoreGroup, ScoreRequest } from '../../src/storage/contracts/scores.js';
import { addPrompts } from '../storage/duckdb/prompt-oracle.js';
import { aLog } from '../support/log-records.js';
import { neverDiffers, same } from '../support/property.js';
import { aHeader, aSpanRecord, DAY, NOON } from '../support/run-records.js';
import { onEveryTelemetry, type OpenedTelemetry, type OpenTelemetry } from './telemetry-stores.js';

const RECEIVED = { receivedAt: NOON };
const HOUR = 3_600_000_000;
const NAMES = ['helpful', 'it\'s <0.5> "odd" = ü', '!'] as const;
const MODELS = ['gpt', 'claude', null] as const;

/** One thing that can be judged, and how scores name it. */
interface Judged {
  readonly run: number;
  readonly trace_id: string | null;
  readonly span_id: string | null;
  readonly response: string | null;
  /** The models that its scores count for. */
  readonly models: readonly (string | null)[];
}

interface World {
  readonly items: TraceRecord[];
  readonly judged: readonly Judged[];
}

/** Six runs of three agents, two versions of a prompt and two environments, each with two calls. */
function aWorld(): World {
  const judged: Judged[] = [];
  const items = Array.from({ length: 6 }, (_, run): TraceRecord => {
    const trace = aHeader({
      agent: `agent ${run % 3}`,
      started_at: NOON + run * HOUR,
      environment: [null, 'prod'][run % 2] ?? null,
      release: 'v1',
    });
    const { trace_id } = trace;
    const models = [MODELS[run % 3] ?? null, MODELS[(run + 1) % 3] ?? null];
    const calls = models.map((model, i) => {
      const response = `resp-${run}-${i}-${randomUUID()}`;
      const key = callKey({ scope: 'test', model: null, provider: null, response });
      const call = { provider: null, usage: null, cost: null, key };
      return { response, span: aSpanRecord(trace_id, { model, call, started_at: trace.started_at }) };
    });
    const named = [...new Set(models.filter((model) => model !== null))];
    judged.push({ run, trace_id, span_id: null, response: null, models: named });
    for (const { response, span } of calls) {
      const own = span.model === null ? named : [span.model];
      judged.push({ run, trace_id, span_id: span.span_id, response: null, models: own });
      judged.push({ run, trace_id: null, span_id: null, response, models: own });
    }
    return { trace, spans: calls.map(({ span }) => span) };
  });
  return { items, judged };
}

/** A write of a score. */
interface Write {
  /** A number of `judged`, and of the id that its scores share. */
  readonly target: number;
  readonly id: number;
  readonly name: number;
  readonly value: number | null;
  /** Null without a value: a failed evaluation. */
  readonly label: string | null;
}

const writes = fc.array(
  fc.record<Write>({
    target: fc.nat(29),
    id: fc.nat(2),
    name: fc.nat(NAMES.length - 1),
    value: fc.option(fc.integer({ min: -40, max: 40 }).map((value) => value / 8)),
    label: fc.constantFrom('good', "b'ad", null),
  }),
  { minLength: 1, maxLength: 30 },
);

function logged({ trace_id, span_id, response }: Judged, id: string, write: Write): LogRecord {
  const attributes: JsonObject = {
    [SCORE_ID]: id,
    'gen_ai.evaluation.name': invariant(NAMES[write.name], 'name'),
    ...(write.label === null
      ? { 'error.type': 'timeout' }
      : { 'gen_ai.evaluation.score.label': write.label }),
    ...(write.value !== null && { 'gen_ai.evaluation.score.value': write.value }),
    ...(response !== null && { 'gen_ai.response.id': response }),
  };
  return aLog({ timestamp: NOON, event_name: EVALUATION_EVENT, body: null, attributes, trace_id, span_id });
}

/** The newest write of each id, without failed evaluations. */
function newestOf(all: readonly Write[]): Write[] {
  const newest = [...new Map(all.map((write) => [`${write.target} ${write.id}`, write])).values()];
  return newest.filter(({ value, label }) => value !== null || label !== null);
}

type Counted = Pick<ScoreGroup, 'name' | 'key' | 'scores' | 'values' | 'mean' | 'min' | 'max'> & {
  labels: string;
};

/** Counts by hand. @param keysOf the groups that a score counts in */
function counted(
  scores: readonly Write[],
  judged: readonly Judged[],
  keysOf: (of: Judged) => readonly (string | null)[],
): Counted[] {
  const groups = new Map<string, { name: string; key: string | null; all: Write[] }>();
  for (const score of scores) {
    const of = invariant(judged[score.target], 'judged');
    for (const key of keysOf(of)) {
      const name = invariant(NAMES[score.name], 'name');
      const identity = JSON.stringify([name, key]);
      const group = groups.get(identity) ?? { name, key, all: [] };
      groups.set(identity, group);
      group.all.push(score);
    }
  }
  return sorted(
    [...groups.values()].map(({ name, key, all }) => {
      const values = all.flatMap(({ value }) => value ?? []);
      const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
      const labels = ['good', "b'ad"].map((label) => all.filter((score) => score.label === label).length);
      return {
        ...{ name, key, scores: all.length, values: values.length },
        mean: values.length === 0 ? null : Number(mean.toPrecision(12)),
        min: values.length === 0 ? null : Math.min(...values),
        max: values.length === 0 ? null : Math.max(...values),
        labels: labels.join('+'),
      };
    }),
  );
}

function sorted(groups: readonly Counted[]): Counted[] {
  const place = ({ name, key }: Counted): string => JSON.stringify([name, key]);
  return groups.toSorted((a, b) => (place(a) < place(b) ? -1 : 1));
}

function found(groups: readonly ScoreGroup[]): Counted[] {
  return sorted(
    groups.map(({ name, key, agent, scores, values, mean, min, max, labels }) => ({
      ...{ name, key: agent?.name ?? key, scores, values, mean, min, max },
      labels: ['good', "b'ad"]
        .map((label) => labels.find((one) => one.label === label)?.scores ?? 0)
        .join('+'),
    })),
  );
}

const CONDITIONS: readonly ScoreCondition[] = NAMES.flatMap((name): ScoreCondition[] => [
  { kind: 'any', name },
  { kind: 'none', name },
  { kind: 'label', name, operator: '=', label: "b'ad" },
  { kind: 'label', name, operator: '!=', label: "b'ad" },
  ...(['<', '<=', '>', '>=', '=', '!='] as const).map(
    (operator) => ({ kind: 'value', name, operator, value: 0.5 }) as const,
  ),
]);

function meets(condition: ScoreCondition, scores: readonly Write[]): boolean {
  const named = scores.filter(({ name }) => NAMES[name] === condition.name);
  switch (condition.kind) {
    case 'any':
      return named.length > 0;
    case 'none':
      return named.length === 0;
    case 'label':
      return named.some(
        ({ label }) => label !== null && (label === condition.label) === (condition.operator === '='),
      );
    default:
      return named.some(
        ({ value }) => value !== null && compares(value, condition.operator, condition.value),
      );
  }
}

function compares(value: number, operator: string, with_: number): boolean {
  switch (operator) {
    case '<':
      return value < with_;
    case '<=':
      return value <= with_;
    case '>':
      return value > with_;
    case '>=':
      return value >= with_;
    default:
      return (value === with_) === (operator === '=');
  }
}

/** Compares every figure with the count by hand. */
async function compareAll(
  { store }: OpenedTelemetry,
  userId: string,
  { items, judged }: World,
  scores: readonly Write[],
  conditions: readonly ScoreCondition[],
): Promise<void> {
  const groups = async (request: ScoreRequest) => found(await store.scores.groups(userId, request));
  const runOf = ({ run }: Judged) => invariant(items[run], 'run').trace;
  const keys = {
    agent: (of: Judged) => [runOf(of).agent],
    model: (of: Judged) => (of.models.length === 0 ? [null] : of.models),
    environment: (of: Judged) => [runOf(of).environment],
    release: () => ['v1'],
    agent_version: () => [null],
    prompt_version: ({ run }: Judged) => (run < 2 ? ['1'] : run === 2 ? ['1', '2'] : []),
  };
  same(
    await groups({}),
    counted(scores, judged, () => [null]),
  );
  for (const group_by of ['agent', 'model', 'environment', 'release', 'agent_version'] as const)
    same(await groups({ group_by }), counted(scores, judged, keys[group_by]));
  same(
    await groups({ group_by: 'prompt_version', prompt: 'p' }),
    counted(scores, judged, keys.prompt_version),
  );
  // Filters.
  const isOf = (wanted: (of: Judged) => boolean) =>
    scores.filter(({ target }) => wanted(invariant(judged[target], 'judged')));
  same(
    await groups({ environment: 'prod', name: NAMES[0], start_time: NOON + HOUR, end_time: NOON + 5 * HOUR }),
    counted(
      isOf(({ run }) => run === 1 || run === 3).filter(({ name }) => name === 0),
      judged,
      () => [null],
    ),
  );
  same(
    await groups({ prompt: 'p', group_by: 'agent' }),
    counted(
      isOf(({ run }) => run < 3),
      judged,
      keys.agent,
    ),
  );
  // Buckets add up to their groups and lie where the runs started.
  for (const { name, buckets } of await store.scores.groups(userId, { interval: 2 * HOUR }))
    for (const { start, scores: count, mean, values } of buckets) {
      const inBucket = isOf((of) => {
        const at = runOf(of).started_at;
        return at >= start && at < start + 2 * HOUR;
      }).filter((score) => NAMES[score.name] === name);
      const [hand] = counted(inBucket, judged, () => [null]);
      same([count, values, mean], [hand?.scores, hand?.values, hand?.mean]);
    }
  // The list, its count, a series and the scores of listed runs.
  const scoresOf = (run: number) => isOf((of) => of.run === run);
  const numbers = items.map((_, run) => run).toReversed();
  for (const condition of conditions) {
    const wanted = numbers.filter((run) => meets(condition, scoresOf(run)));
    const ids = wanted.map((run) => items[run]?.trace.trace_id);
    const filter = { scores: [condition], kind: 'agent' } as const;
    const listed = await store.runs.list(userId, filter, { offset: 0, limit: 10 });
    same([listed.count, listed.items.map((run) => run.trace_id)], [ids.length, ids]);
    const followed = await store.runs.follow(userId, filter, { after: null, limit: 10 });
    same(
      followed.items.map((run) => run.trace_id),
      ids,
    );
    const of = { start_time: NOON, end_time: NOON + DAY, filter: { scores: [condition] } };
    same((await store.series.read(userId, { ...of, interval: DAY })).total.runs, ids.length);
    for (const group_by of ['environment', 'tag'] as const)
      same(
        (await store.groups.read(userId, { ...of, group_by, sort: 'cost', limit: 10 })).total.runs,
        ids.length,
      );
  }
  const ofRuns = await store.scores.ofRuns(
    userId,
    items.map(({ trace }) => trace.trace_id.toUpperCase()),
  );
  for (const [run, { trace }] of items.entries())
    same(
      ofRuns
        .filter(({ trace_id }) => trace_id === trace.trace_id)
        .map(({ name, scores: count, mean }) => [name, count, mean])
        .toSorted(),
      counted(scoresOf(run), judged, () => [null])
        .map(({ name, scores: count, mean }) => [name, count, mean])
        .toSorted(),
    );
}

function checkScoreStats(t: Test, open: OpenTelemetry): void {
  void t.test('every figure equals a count by hand, in any order and with repeats', async (t) => {
    const opened = await open(t, { fileRows: 30 });
    const seeds = fc.nat(2 ** 20);
    await neverDiffers(t, { runs: 4, ms: 12_000 }, [writes, seeds], async (sent, seed) => {
      const userId = await opened.addUser();
      await addPrompts(opened.control.prompts, userId, ['p'], [1, 2]);
      const world = aWorld();
      const ids = new Map<string, string>();
      const record = (write: Write): LogRecord => {
        const key = `${write.target} ${write.id}`;
        const id = ids.get(key) ?? randomUUID();
        ids.set(key, id);
        return logged(invariant(world.judged[write.target], 'judged'), id, write);
      };
      const { writer, prompts } = opened.store;
      const send = async (...items: LogRecord[]): Promise<void> => {
        await writer.logs({ tenant: userId, items }, RECEIVED);
      };
      const late = seed % (sent.length + 1);
      for (const write of sent.slice(0, late)) await send(record(write));
      await writer.traces({ tenant: userId, items: world.items }, RECEIVED);
      for (const [run, version] of [
        [0, 1],
        [1, 1],
        [2, 1],
        [2, 2],
      ] as const) {
        const trace_id = invariant(world.items[run], 'run').trace.trace_id;
        await prompts.link(
          userId,
          { prompt_name: 'p', prompt_version: version, trace_id, span_id: null },
          NOON,
        );
      }
      for (const write of sent.slice(late)) await send(record(write));
      const scores = newestOf(sent);
      // Every seventh: all in a few runs.
      const conditions = CONDITIONS.filter((_, i) => (i + seed) % 7 === 0);
      await opened.caughtUp();
      await compareAll(opened, userId, world, scores, conditions);
      // Repeats of the newest forms, in another order and in one batch, after the rows have moved.
      await opened.settled();
      const shuffled = scores.toSorted((a, b) => ((a.target * seed) % 7) - ((b.target * seed) % 7));
      await send(...shuffled.map((write) => ({ ...record(write), id: randomUUID() })));
      await opened.caughtUp();
      await compareAll(opened, userId, world, scores, conditions);
    });
  });

  void t.test('very large values have a mean; scores of unknown runs are not counted', async (t) => {
    const opened = await open(t);
    const userId = await opened.addUser();
    const trace = aHeader();
    const { writer, scores } = opened.store;
    await writer.traces({ tenant: userId, items: [{ trace, spans: [] }] }, RECEIVED);
    const of: Judged = { run: 0, trace_id: trace.trace_id, span_id: null, response: null, models: [] };
    const write = { target: 0, id: 0, name: 0, label: null, value: 1.5e308 };
    await writer.logs(
      { tenant: userId, items: [logged(of, randomUUID(), write), logged(of, randomUUID(), write)] },
      RECEIVED,
    );
    await opened.caughtUp();
    t.match(await scores.groups(userId, {}), [{ scores: 2, mean: 1.5e308, max: 1.5e308 }]);
    t.strictSame(await scores.groups(await opened.addUser(), {}), [], 'of another user');
    t.strictSame(await scores.groups(userId, { agent_id: randomUUID() }), [], 'of an unknown agent');
    t.strictSame(await scores.groups(userId, { prompt: 'p', group_by: 'prompt_version' }), []);
    const unknown = { ...of, trace_id: randomUUID() };
    await writer.logs({ tenant: userId, items: [logged(unknown, randomUUID(), write)] }, RECEIVED);
    t.match(await scores.groups(userId, {}), [{ scores: 2 }]);
  });
}

/** Scores as alerts read them, now and in the past. */
function checkObserved(t: Test, open: OpenTelemetry): void {
  void t.test('alerts read the scores of an agent that were given in the window', async (t) => {
    const opened = await open(t);
    const userId = await opened.addUser();
    const { store } = opened;
    const world = aWorld();
    await store.writer.traces({ tenant: userId, items: world.items }, RECEIVED);
    const agents = await store.agents.list(userId);
    const agentId = invariant(
      agents.find(({ name }) => name === 'agent 0'),
      'agent',
    ).id;
    let arrived = NOON;
    const give = async (target: number, value: number | null, at: number, id: string = randomUUID()) => {
      const of = invariant(world.judged[target], 'judged');
      const record = logged(of, id, { target, id: 0, name: 0, value, label: 'x' });
      await store.writer.logs(
        { tenant: userId, items: [{ ...record, timestamp: at }] },
        { receivedAt: ++arrived },
      );
    };
    const asked = (now: number, since: readonly string[] = []) => ({
      ...{ now, windowStart: now - HOUR, pointsStart: now, days: [], targets: [], metrics: [] },
      scores: [{ userId, agentId, name: NAMES[0], since }],
    });
    const observed = async (now: number, since?: readonly string[]) => {
      await opened.caughtUp();
      return invariant((await store.stats.observe(asked(now, since))).scores?.[0], 'score');
    };
    t.match(await observed(NOON), { values: 0, mean: null });
    const corrected = randomUUID();
    await give(0, 4, NOON - HOUR);
    await give(0, 8, NOON, corrected);
    await give(1, 0, NOON - 1);
    await give(2, null, NOON);
    await give(5, 100, NOON);
    const first = await observed(NOON);
    t.match(
      first,
      { values: 2, mean: 4 },
      'of other agents, without a value and before the window: not counted',
    );
    await give(2, 1, NOON - 2);
    const second = await observed(NOON, [first.evidence]);
    t.match(second, { values: 3, mean: 3, isNew: [true] }, 'of a response');
    t.match(await observed(NOON, [second.evidence]), { isNew: [false] });
    await give(0, -1, NOON, corrected);
    t.match(await observed(NOON, [second.evidence]), { values: 3, mean: 0, isNew: [true] }, 'corrected');
    t.match(await observed(NOON + HOUR), { values: 0, mean: null });
    const times = [NOON - HOUR / 2, NOON, NOON + HOUR / 2];
    const past = await store.past.observe(
      userId,
      times.map((now) => asked(now)),
    );
    t.match(
      past.map(({ scores }) => scores?.[0]),
      [
        { values: 1, mean: 4 },
        { values: 3, mean: 0 },
        { values: 3, mean: 0 },
      ],
    );
    await give(15, 0.25, NOON);
    await give(15, 9, NOON);
    await opened.caughtUp();
    const [bad, other] = [0, 3].map((run) => world.items[run]?.trace.trace_id);
    const examples = async (direction: 'below' | 'above', threshold: number) => {
      const of = { type: 'score_threshold', from: NOON - HOUR, to: NOON } as const;
      const named = { source: 'ai', score_name: NAMES[0], min_samples: 1, direction, threshold } as const;
      const query = { ...of, score: { type: of.type, ...named } };
      return await store.stats.exampleTraces([
        { ...query, target: { userId, agentId } },
        { ...query, target: { userId, isAllAgents: true } },
      ]);
    };
    const worst = [bad, other];
    t.strictSame(await examples('below', 0.5), [worst, worst], 'the worst run first');
    t.strictSame(await examples('below', 0.25), [[bad], [bad]]);
    const ofOther = world.items[1]?.trace.trace_id;
    t.strictSame(await examples('above', 5), [[other], [ofOther, other]], 'of one agent, and of all');
  });
}

await onEveryTelemetry(t, (t, open) => {
  checkScoreStats(t, open);
  checkObserved(t, open);
});

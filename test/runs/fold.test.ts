import fc from 'fast-check';
import t from 'tap';
import { NO_NODE } from '../../src/signal/service-map.js';
import { RUN_STATUSES, type SpanRecord } from '../../src/signal/span.js';
import { fold, type Run } from '../../src/runs/fold.js';
import { HAS_FAILED } from '../../src/runs/rules/derived.js';
import { timesOutAt } from '../../src/runs/rules/following-header.js';
import { factsOf, keyOf, type SpanFacts } from '../../src/runs/rules/span-facts.js';
import type { RunMessage, SpanFact } from '../../src/runs/run-messages.js';
import { RunState } from '../../src/runs/run-state.js';
import { FollowedSpans } from '../../src/runs/spans/followed-spans.js';
import type { SpanState } from '../../src/runs/spans/span-state.js';
import { holds, same } from '../support/property.js';
import { headerRow, spanRow } from '../storage/duckdb/incoming-records.js';
import { NOON } from '../support/run-records.js';
import { history, type Commit, type SentSpan, type Step } from './histories.js';

const SPAN = '00000000-0000-4000-8000-00000000000a';

/** A store that applies commits one by one, reading evicted state from its rows. */
class StepByStep {
  state: RunState | null = null;
  /** Stored spans by id. */
  readonly #stored = new Map<string, SpanState>();
  readonly #isMapped: boolean;
  #seq = 0;
  #now = 0;

  constructor(isMapped: boolean) {
    this.#isMapped = isMapped;
  }

  commit({ steps, isReloaded }: Commit): void {
    if (isReloaded) this.#reload();
    for (const step of steps) this.#apply(step);
    const { state } = this;
    if (state === null) return;
    this.#rewrite(state);
    const { spans } = state.finish(++this.#seq);
    spans.forEach((span, line) =>
      this.#stored.set(span.span_id, { ...span, seq: this.#seq, line, changed: false }),
    );
    state.written(this.#seq, spans);
  }

  /** Rewrites duplicates as an engine does, which reads stored spans as a whole before. */
  #rewrite(state: RunState): void {
    for (const one of state.countsRewrites()) {
      const span = state.find(one.span_id);
      if (span !== undefined) span.row ??= this.#stored.get(one.span_id)?.row;
      state.rewriteCounts(one);
    }
    same(state.countsRewrites(), []);
  }

  #reload(): void {
    if (this.state === null) return;
    const { header, agent, lastSeenAt, isMapped, hasEnded } = this.state;
    const known = { lastSeenAt, isMapped, hasEnded, isStored: true };
    this.state = new RunState({ header: { ...header }, agent }, known, Infinity);
    const unread = { row: undefined, payload: undefined };
    this.state.spans = FollowedSpans.of([...this.#stored.values()].map((span) => ({ ...span, ...unread })));
  }

  #apply(step: Step): void {
    this.#now++;
    if (step.kind === 'timeout') this.#timeOut();
    else if (step.kind === 'outcome') this.state?.setOutcome(step.success, step.outcome ?? undefined);
    else if (this.state === null) {
      const known = { lastSeenAt: this.#now, isStored: false, isMapped: this.#isMapped, hasEnded: false };
      this.state = new RunState(step.named, known, Infinity);
      for (const span of step.spans) this.#applySpan(this.state, span);
    } else {
      this.state.applyHeader(step.named, factsAt(step), this.#now);
      for (const span of step.spans) this.#applySpan(this.state, span);
    }
  }

  /** A store finds only runs that can time out. */
  #timeOut(): void {
    const { state } = this;
    if (state !== null && timesOutAt(state.header, state.lastSeenAt) !== null) state.timeOut();
  }

  #applySpan(state: RunState, { row, payload, node }: SentSpan): void {
    const known = state.find(keyOf(row.span_id));
    const stored = this.#stored.get(keyOf(row.span_id));
    // As a store reads rows to be completed.
    if (known !== undefined && known.row === undefined) {
      known.row = stored?.row;
      known.payload = stored?.payload;
    }
    const before = known?.node ?? NO_NODE;
    const completed = (): number => (before === NO_NODE ? node : before);
    state.applySpan(row, payload, { incoming: () => node, completed });
  }
}

function factsAt(step: Extract<Step, { readonly kind: 'header' }>): SpanFacts[] {
  return step.spans.map(({ row, node }) => factsOf(row, node));
}

/** The same history as messages and span facts. */
function messagesOf(commits: readonly Commit[], isMapped: boolean) {
  const messages: RunMessage[] = [];
  const spans: SpanFact[] = [];
  for (const [i, step] of commits.flatMap(({ steps }) => steps).entries()) {
    const order = i + 1;
    if (step.kind === 'header') {
      messages.push({ kind: 'header', order, receivedAt: order, named: step.named, isMapped });
      spans.push(...step.spans.map(({ row, node }) => ({ order, row, node })));
    } else if (step.kind === 'timeout') messages.push({ ...step, order, at: Infinity });
    else messages.push({ ...step, order });
  }
  return { messages, spans };
}

function sorted(fields: object): [string, unknown][] {
  return Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Compares the state after the last commit with the result of all facts. */
function compare(state: RunState | null, run: Run | null, now: number): void {
  same(state === null, run === null);
  if (state === null || run === null) return;
  const header = { ...state.header, derived: state.header.derived & ~HAS_FAILED };
  same(sorted(header), sorted(run.header));
  same(state.agent, run.agent);
  same(state.namesItsAgent, run.namesItsAgent);
  same(state.isMapped, run.isMapped);
  same(state.spans.size, run.spans.length);
  for (const span of run.spans) {
    const found = state.spans.get(span.span_id);
    const facts = sorted(span);
    same(
      sorted({ ...found }).filter(([name]) => facts.some(([other]) => other === name)),
      facts,
    );
  }
  if (run.hasEnded) same(state.hasEnded, true);
  same(run.lastSeenAt <= state.lastSeenAt && state.lastSeenAt <= now, true);
}

void t.test('folding all facts at once equals updating commit by commit', async (t) => {
  const property = fc.property(history, ({ isMapped, commits }) => {
    const stored = new StepByStep(isMapped);
    for (const commit of commits) stored.commit(commit);
    const { messages, spans } = messagesOf(commits, isMapped);
    compare(stored.state, fold(messages, spans), messages.length);
  });
  holds(t, property, { numRuns: 3000 });
});

void t.test('the result does not depend on the order or repetition of facts', async (t) => {
  const found = history.chain(({ isMapped, commits }) => {
    const { messages, spans } = messagesOf(commits, isMapped);
    const twice = [...messages, ...messages];
    return fc.record({
      messages: fc.constant(messages),
      spans: fc.constant(spans),
      shuffled: fc.shuffledSubarray(twice, { minLength: twice.length }),
    });
  });
  const property = fc.property(found, ({ messages, spans, shuffled }) => {
    // Facts of one message keep their order.
    const twice = [...spans, ...spans].sort((a, b) => b.order - a.order);
    same(fold(shuffled, twice), fold(messages, spans));
  });
  holds(t, property, { numRuns: 1000 });
});

void t.test('prompt versions count once, even if linked before the run arrived', async (t) => {
  const links = [3, 1, 3].map((promptNo, order): RunMessage => ({ kind: 'link', order, promptNo }));
  t.equal(fold(links, []), null);
  const header = { kind: 'header', order: 9, receivedAt: 1, named: headerRow({}), isMapped: false } as const;
  t.same(fold([...links, header], [])?.prompts, [1, 3]);
});

void t.test('a time-out lasts until new data arrives and does not end the run', async (t) => {
  const follows = { follows_spans: true, idle_timeout_ms: 1000, status: 'running' } as const;
  const came = (order: number, changes: Partial<SpanRecord>): [RunMessage, SpanFact] => [
    { kind: 'header', order, receivedAt: order, named: headerRow(follows), isMapped: false },
    { order, row: spanRow(changes).row, node: NO_NODE },
  ];
  const [first, running] = came(1, { span_id: SPAN, status: 'running', ended_at: null });
  const [second, ended] = came(3, { span_id: SPAN, status: 'failed', ended_at: NOON + 7 });
  const idle: RunMessage = { kind: 'timeout', order: 2, at: NOON };
  const statusOf = (run: Run | null) =>
    run && [RUN_STATUSES[run.header.status], run.hasEnded, run.lastSeenAt];
  t.same(statusOf(fold([first, idle], [running])), ['timed_out', false, 1]);
  t.same(statusOf(fold([first, idle, { ...first, order: 3 }], [running])), ['timed_out', false, 1]);
  t.same(statusOf(fold([first, idle, second], [running, ended])), ['failed', true, 3]);
  t.same(statusOf(fold([first, second, { ...idle, order: 4 }], [running, ended])), ['failed', true, 3]);
});

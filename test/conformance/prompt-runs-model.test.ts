import fc from 'fast-check';
import t, { type Test } from 'tap';
import type { SpanRecord } from '../../src/signal/span.js';
import type { TraceRecord } from '../../src/signal/trace.js';
import type { PromptLink } from '../../src/storage/contracts/prompts.js';
import { neverDiffers, same } from '../support/property.js';
import { aHeader, aSpanRecord, NOON } from '../support/run-records.js';
import { aFollowingRecord } from '../storage/duckdb/following-records.js';
import { playSteps } from '../storage/duckdb/play-steps.js';
import { addPrompts, compareWithRuns, linkedKey, type Linked } from '../storage/duckdb/prompt-oracle.js';
import { onEveryTelemetry, type OpenTelemetry } from './telemetry-stores.js';

const NAMES = ['a', 'b/ä'];
/** The last version does not exist. */
const VERSIONS = [1, 2, 3];
const TRACES = 5;
const SPANS = 3;

function idOf(trace: number, span = 0): string {
  return `0000000${trace}-0000-4000-8000-00000000000${span}`;
}

const prompt = fc.record({
  name: fc.constantFrom(...NAMES, 'nobody’s'),
  version: fc.constantFrom(...VERSIONS),
});
const trace = fc.nat(TRACES - 1);
const status = fc.constantFrom('running' as const, 'completed' as const, 'failed' as const);
const duration = fc.constantFrom(null, 0, 0.1, 0.3, 7, 7.25, 1e15);

const span = fc.record({
  status,
  prompt: fc.option(prompt, { freq: 2 }),
  duration_ms: duration,
  cost_usd: fc.option(fc.nat(5)),
});

const message = fc.record({
  is: fc.constant('message' as const),
  trace,
  follows: fc.boolean(),
  status,
  duration_ms: duration,
  success: fc.option(fc.boolean()),
  total_cost_usd: fc.option(fc.nat(3_000_000)),
  spans: fc.array(fc.option(span), { minLength: SPANS, maxLength: SPANS }),
});

const link = fc.record({
  is: fc.constant('link' as const),
  prompt,
  trace,
  span: fc.option(fc.nat(SPANS - 1)),
});

const outcome = fc.record({ is: fc.constant('outcome' as const), trace, success: fc.boolean() });

const change = fc.record({
  tenant: fc.constantFrom(0 as const, 1 as const),
  what: fc.oneof({ weight: 4, arbitrary: message }, { weight: 4, arbitrary: link }, outcome),
});
type Change = typeof change extends fc.Arbitrary<infer Value> ? Value : never;
type Message = typeof message extends fc.Arbitrary<infer Value> ? Value : never;

const step = fc.oneof(
  { weight: 12, arbitrary: fc.array(change, { minLength: 1, maxLength: 4 }) },
  fc.constantFrom('settle' as const, 'restart' as const, 'look' as const),
);

function recordOf(sent: Message): TraceRecord {
  const traceId = idOf(sent.trace);
  const spans = sent.spans.flatMap((made, i): SpanRecord[] =>
    made === null ? [] : [aSpanRecord(traceId, { span_id: idOf(sent.trace, i + 1), ...made })],
  );
  if (sent.follows && spans.length > 0) return aFollowingRecord(spans);
  const { status, duration_ms, success, total_cost_usd } = sent;
  return {
    trace: aHeader({ trace_id: traceId, status, duration_ms, success, total_cost_usd }),
    spans,
  };
}

/** The traces that count as linked, by the rules alone. */
class LinkModel {
  readonly linked: Linked = new Map();
  /** Whether a span is running, by id. */
  readonly #running = new Map<string, boolean>();

  link({ name, version }: { readonly name: string; readonly version: number }, traceId: string): boolean {
    const isKnown = NAMES.includes(name) && version < VERSIONS.length;
    if (!isKnown) return false;
    const key = linkedKey(name, version);
    this.linked.set(key, (this.linked.get(key) ?? new Set()).add(traceId));
    return true;
  }

  write({ trace, spans }: TraceRecord): void {
    for (const { span_id, prompt, status } of spans) {
      const isRunning = status === 'running';
      const known = this.#running.get(span_id);
      const isNew = known === undefined || (known && !isRunning);
      if (!isNew) continue;
      this.#running.set(span_id, isRunning);
      if (prompt !== null) this.link(prompt, trace.trace_id);
    }
  }
}

function checkPromptRuns(t: Test, open: OpenTelemetry): void {
  void t.test('compare shows linked runs for any arrival order', async (t) => {
    const opened = await open(t);
    let now = NOON;
    await neverDiffers(t, { runs: 100, ms: 2000 }, [fc.array(step, { maxLength: 12 })], async (steps) => {
      // New tenants instead of a new store: files grow, are sealed and compacted across runs.
      const tenants = [await opened.addUser(), await opened.addUser()] as const;
      for (const tenant of tenants)
        await addPrompts(opened.control.prompts, tenant, NAMES, VERSIONS.slice(0, -1));
      const models = [new LinkModel(), new LinkModel()] as const;
      const apply = async ({ tenant: at, what }: Change): Promise<void> => {
        const [tenant, model] = [tenants[at], models[at]];
        if (what.is === 'message') {
          const record = recordOf(what);
          model.write(record);
          await opened.store.writer.traces({ tenant, items: [record] }, { receivedAt: now });
        } else if (what.is === 'outcome') {
          await opened.store.runs.setOutcome(tenant, idOf(what.trace), { success: what.success });
        } else {
          const asked: PromptLink = {
            prompt_name: what.prompt.name,
            prompt_version: what.prompt.version,
            trace_id: idOf(what.trace).toUpperCase(),
            span_id: what.span === null ? null : idOf(what.trace, what.span + 1),
          };
          const expected = model.link(what.prompt, idOf(what.trace));
          same(await opened.store.prompts.link(tenant, asked, now), expected);
        }
      };
      const look = async (): Promise<void> => {
        await opened.caughtUp();
        for (const at of [0, 1] as const)
          await compareWithRuns(opened.store, tenants[at], NAMES, models[at].linked);
      };
      await playSteps(opened, steps, {
        look,
        write: async (changes) => {
          now++;
          await Promise.all(changes.map(apply));
        },
      });
      await look();
    });
    t.same(opened.statuses, []);
    t.same(await opened.wrongs(), [], 'each link is stored once');
  });
}

await onEveryTelemetry(t, checkPromptRuns);

import { fileURLToPath } from 'node:url';
import t from 'tap';
import type { Line } from './kill-writer.js';
import { duplicatesIn, wrongSumsIn } from '../stored-rows.js';
import { spansOf } from '../shown-spans.js';
import { TestStore } from '../test-store.js';
import { writeUntilKilled } from '../write-until-killed.js';

/** Set `JACKDAW_TEST_KILLS=20` to kill more often. */
const KILLS = Number(process.env.JACKDAW_TEST_KILLS ?? 6);
const WRITER = fileURLToPath(new URL('./kill-writer.js', import.meta.url));

t.setTimeout(0);

void t.test('a killed process keeps every acknowledged trace whole and once', async (t) => {
  const opened = await TestStore.open(t);
  const tenant = await opened.addUser();
  await opened.close();
  /** Acknowledged and sent writes of every trace. */
  const known = new Map<string, Trace>();
  for (let kill = 1; kill <= KILLS; kill++) {
    const lines = await writeUntilKilled<Line>(t, WRITER, [opened.path, tenant]);
    for (const line of lines) note(known, line);
    await opened.start();
    let spans = 0;
    let tokens = 0;
    for (const [id, trace] of known) {
      const found = await opened.store.runs.read(tenant, id);
      if (found === null) {
        if (trace.isAcknowledged) t.fail(`an acknowledged trace is missing: ${id}`);
        known.delete(id);
        continue;
      }
      const shown = await spansOf(found);
      const ids = new Set(shown.map((span) => span.span_id));
      if (ids.size !== shown.length || ids.size !== found.span_count) {
        t.fail(`${shown.length} spans, ${ids.size} of them different, in a trace of ${found.span_count}`);
      }
      if (shown.some((span) => span.input_data === null)) t.fail('a payload is missing');
      if (!trace.possible().has(`${ids.size} ${found.status}`)) {
        t.fail(`${ids.size} spans, ${found.status}, where only ${[...trace.possible()].join(' or ')} can be`);
      }
      if (found.total_tokens !== (ids.size === 0 ? null : ids.size))
        t.fail('the tokens do not match the spans');
      trace.settle(ids.size, found.status);
      spans += ids.size;
      tokens += found.total_tokens ?? 0;
    }
    const { count } = await opened.store.runs.list(tenant, {}, { offset: 0, limit: 1 });
    t.equal(count, known.size, `kill ${kill}: ${known.size} traces, ${spans} spans`);
    const [agent] = await opened.store.agents.list(tenant);
    t.equal(agent?.total_runs ?? 0, known.size);
    const days = agent && (await opened.store.agents.days(tenant, agent.id, { from: 0, to: 9e15 }));
    t.equal(days?.days[0]?.total_tokens ?? 0, tokens);
    // Once with data in hot files, once compacted.
    if (kill % 2 === 0) await opened.store.settled();
    await opened.close();
    t.same(await duplicatesIn(opened.path), []);
    t.same(await wrongSumsIn(opened.path), []);
  }
});

/** State of a trace according to its writer. */
class Trace {
  isAcknowledged = false;
  #spans = 0;
  #isCompleted = false;
  /** Sent but unacknowledged writes, in order. */
  #open: { readonly spans: number; readonly completes: boolean }[] = [];

  sent(write: { readonly spans: number; readonly completes: boolean }): void {
    this.#open.push(write);
  }

  acknowledged(): void {
    this.isAcknowledged = true;
    const write = this.#open.shift();
    this.#spans += write?.spans ?? 0;
    this.#isCompleted ||= write?.completes ?? false;
  }

  /** Each sent write is stored whole or not at all, and none without the previous ones. */
  possible(): Set<string> {
    let spans = this.#spans;
    let isCompleted = this.#isCompleted;
    const states = new Set<string>();
    const note = (): void => void states.add(`${spans} ${isCompleted ? 'completed' : 'running'}`);
    note();
    for (const write of this.#open) {
      spans += write.spans;
      isCompleted ||= write.completes;
      note();
    }
    return states;
  }

  /** Continues from the found state. */
  settle(spans: number, status: string): void {
    this.isAcknowledged = true;
    this.#spans = spans;
    this.#isCompleted = status === 'completed';
    this.#open = [];
  }
}

function note(known: Map<string, Trace>, { kind, writes }: Line): void {
  for (const write of writes) {
    let trace = known.get(write.id);
    if (trace === undefined) known.set(write.id, (trace = new Trace()));
    if (kind === 'sent') trace.sent(write);
    else trace.acknowledged();
  }
}

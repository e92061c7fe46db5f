import t from 'tap';
import { completedSpan } from '../../../src/runs/rules/completion.js';
import type { SpanRow } from '../../../src/runs/rules/rows.js';
import { RUN_STATUSES } from '../../../src/signal/span.js';
import { serializeCall, storedCall, type CallDetails } from '../../../src/signal/call-details.js';

const PRICED: NonNullable<CallDetails['cost']> = { source: 'priced', rule: 'p.yaml:1 m', input: 7 };

function aCall(
  status: 'running' | 'completed',
  cost: number | null,
  details: Partial<CallDetails> = {},
): SpanRow {
  return {
    trace_id: 'a',
    span_id: 'b',
    parent_span_id: null,
    type: 1,
    status: RUN_STATUSES.indexOf(status),
    name: 'call',
    started_at: 1,
    ended_at: null,
    duration_ms: null,
    model: 'm',
    input_tokens: null,
    output_tokens: null,
    total_tokens: null,
    cost_usd: cost,
    error_message: null,
    agent_source: null,
    agent_name: null,
    map_hint: null,
    run_kind: null,
    context: null,
    call_details: serializeCall({ usage: null, cost: null, ...details }),
    call_key: null,
    same_as: null,
    counted: null,
    counted_tokens: null,
    counted_cost: null,
    derived: 0,
  };
}

void t.test('cost details stay with the cost they explain', async (t) => {
  const running = aCall('running', null, { usage: { cached_read: 64 } });
  const priced = aCall('completed', 7, { usage: { reasoning: 16 }, cost: PRICED });
  const ended = completedSpan(running, priced);
  t.equal(ended.cost_usd, 7);
  t.match(storedCall(ended.call_details), { usage: { cached_read: 64, reasoning: 16 }, cost: PRICED });
  const reported = completedSpan(aCall('running', 5), priced);
  t.equal(reported.cost_usd, 5, 'the cost reported first stays');
  t.strictSame(storedCall(reported.call_details)?.cost, null, 'the price table does not explain it');
  const without = completedSpan(aCall('running', null), aCall('completed', null));
  t.strictSame([without.cost_usd, without.call_details], [null, null]);
});

void t.test('usage details reported first stay', async (t) => {
  const ended = completedSpan(
    aCall('running', null, { usage: { cached_read: 1 } }),
    aCall('completed', null, { usage: { cached_read: 2, cached_write: 3 } }),
  );
  t.strictSame(storedCall(ended.call_details)?.usage, { cached_read: 1, cached_write: 3 });
});

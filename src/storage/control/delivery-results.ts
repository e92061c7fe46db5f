import type { Transaction } from 'kysely';
import { envelope } from '../../signal/event.js';
import { uuidV7 } from '../../signal/ids.js';
import { MICROS_PER_MS } from '../../signal/time-units.js';
import { formatTime, type Micros } from '../../signal/time.js';
import { type FinishedAttempt, type FinishedRules, maskTarget } from '../contracts/deliveries.js';
import { counted, finished } from './delivery-state.js';
import type { Fact } from '../contracts/events.js';
import type { Dialect } from './dialect.js';
import { appendFacts, isWanted } from './event-rows.js';
import type { Tables } from './tables.js';
import { addAttempts, forgetManual, saveWaiting, toWaiting } from './waiting-rows.js';

type EndpointRow = Tables['webhook_endpoints'];

/** The effects of results. */
interface NotedResults {
  /** Ids of deliveries with an attempt that ended. */
  readonly ended: readonly string[];
  /** Ids of endpoints. */
  readonly paused: readonly string[];
  /** Whether an event was written. */
  readonly hasEvents: boolean;
}

/**
 * Records the results of attempts, and updates the circuit breakers of the endpoints. Endpoints are locked before deliveries, as
 * everywhere.
 */
export async function noteResults(
  tx: Transaction<Tables>,
  dialect: Dialect,
  results: readonly FinishedAttempt[],
  rules: FinishedRules,
): Promise<NotedResults> {
  const ids = [...new Set(results.map(({ delivery_id }) => delivery_id))];
  const ofEndpoints = tx
    .selectFrom('waiting_deliveries')
    .select('endpoint_id')
    .where('delivery_id', 'in', ids);
  const endpoints = tx
    .selectFrom('webhook_endpoints')
    .selectAll()
    .where('id', 'in', ofEndpoints)
    .orderBy('id');
  const before = new Map((await dialect.lock(endpoints).execute()).map((row) => [row.id, row]));
  const waiting = tx
    .selectFrom('waiting_deliveries')
    .selectAll()
    .where('delivery_id', 'in', ids)
    .orderBy('delivery_id');
  const rows = new Map(
    (await dialect.lock(waiting).execute()).map((row) => [row.delivery_id, toWaiting(row)]),
  );
  const after = new Map(before);
  const attempts: Tables['delivery_attempts'][] = [];
  for (const result of results) {
    const row = rows.get(result.delivery_id);
    const endpoint = row && after.get(row.endpointId);
    // Another claim exists, the delivery or its endpoint was removed, or the result was already recorded.
    if (!endpoint || !row.waiting.underWay || row.waiting.attempts !== result.attempt) continue;
    attempts.push(toAttempt(result, row.waiting.underWay.attemptedAt));
    rows.set(result.delivery_id, { ...row, waiting: finished(row.waiting, result), expiresAt: null });
    const state = { isActive: endpoint.is_active === 1, failures: endpoint.consecutive_failures };
    const { isActive, failures } = counted(state, result, rules.breakerThreshold);
    after.set(endpoint.id, { ...endpoint, is_active: Number(isActive), consecutive_failures: failures });
  }
  await addAttempts(tx, attempts);
  const succeeded = attempts.filter((attempt) => attempt.succeeded === 1);
  if (succeeded.length > 0)
    await tx
      .updateTable('deliveries')
      .set({ succeeded: 1 })
      .where(
        'id',
        'in',
        succeeded.map(({ delivery_id }) => delivery_id),
      )
      .execute();
  const ended = new Set(attempts.map(({ delivery_id }) => delivery_id));
  await saveWaiting(
    tx,
    [...rows.values()].filter(({ deliveryId }) => ended.has(deliveryId)),
  );
  return { ended: [...ended], ...(await follow(tx, before, [...after.values()], rules.now)) };
}

/** Writes the changes of the endpoints, and the events for paused ones. */
async function follow(
  tx: Transaction<Tables>,
  before: ReadonlyMap<string, EndpointRow>,
  after: readonly EndpointRow[],
  now: Micros,
): Promise<Omit<NotedResults, 'ended'>> {
  const paused: EndpointRow[] = [];
  for (const endpoint of after) {
    const { id, is_active, consecutive_failures } = endpoint;
    const known = before.get(id);
    if (known?.consecutive_failures === consecutive_failures) continue;
    await tx
      .updateTable('webhook_endpoints')
      .set({ is_active, consecutive_failures })
      .where('id', '=', id)
      .execute();
    if (known?.is_active === is_active) continue;
    await forgetManual(tx, id);
    paused.push(endpoint);
  }
  const facts: Fact[] = [];
  for (const endpoint of paused) {
    const fact = endpointDisabled(endpoint, now);
    if (await isWanted(tx, fact)) facts.push(fact);
  }
  await appendFacts(tx, facts);
  return { paused: paused.map(({ id }) => id), hasEvents: facts.length > 0 };
}

function endpointDisabled(endpoint: EndpointRow, now: Micros): Fact {
  const head = {
    id: uuidV7(now / MICROS_PER_MS),
    type: 'webhook.endpoint.disabled',
    timestamp: now,
  } as const;
  const body = envelope(head, {
    endpoint_id: endpoint.id,
    endpoint_name: endpoint.name,
    // Other receivers and members of the organization can read it.
    url: maskTarget(endpoint.url),
    consecutive_failures: endpoint.consecutive_failures,
    disabled_at: formatTime(now),
  });
  const organization_id = endpoint.organization_id;
  return {
    fact: `${head.type}:${head.id}`,
    tenant: organization_id,
    event: { ...head, organization_id, endpoint_id: null, body },
  };
}

function toAttempt(result: FinishedAttempt, attemptedAt: Micros): Tables['delivery_attempts'] {
  return {
    delivery_id: result.delivery_id,
    attempt_number: result.attempt,
    attempted_at: attemptedAt,
    succeeded: Number(result.succeeded),
    http_status_code: result.statusCode,
    response_body: result.responseBody,
    duration_ms: Math.round(result.durationMs),
    error_message: result.error,
  };
}

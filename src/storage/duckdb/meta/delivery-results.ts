import { formatTime } from '../../../signal/time.js';
import type { FinishedAttempt, FinishedRules } from '../../delivery-store.js';
import type { Row } from '../connection.js';
import type { EventInterests } from '../events/interests.js';
import { WAITING } from './delivery-definitions.js';
import type { DeliveryMemory } from './delivery-memory.js';
import type { DeliveryQueue } from './delivery-queue.js';
import { listOf, toWaitingRow, type WaitingRow } from './delivery-rows.js';
import { counted, finished, type BreakerState } from '../../delivery-state.js';
import { toEndpoint } from './endpoint-tables.js';
import type { MetaConnection } from './meta-connection.js';
import type { MetaEvents } from './meta-events.js';
import { ENDPOINTS } from './tables.js';

/** What the results stand on. */
export interface DeliveryParts {
  readonly connection: MetaConnection;
  readonly events: MetaEvents;
  readonly interests: EventInterests;
  readonly memory: DeliveryMemory;
}

/** Attempts under way, by delivery, and the endpoints that they go to. */
interface UnderWay {
  readonly rows: Map<number, WaitingRow>;
  readonly endpoints: Map<string, BreakerState>;
}

/** Notes how attempts ended, and lets the endpoints' breakers follow. */
export class DeliveryResults {
  readonly #parts: DeliveryParts;
  readonly #queue: DeliveryQueue;

  constructor(parts: DeliveryParts, queue: DeliveryQueue) {
    this.#parts = parts;
    this.#queue = queue;
  }

  async finish(results: readonly FinishedAttempt[], rules: FinishedRules): Promise<readonly string[]> {
    if (results.length === 0) return [];
    return await this.#parts.connection.shared(async () => {
      const { rows, endpoints } = await this.#underWay(results);
      const before = new Map(endpoints);
      const attempts: Row[] = [];
      for (const result of results) {
        const row = rows.get(result.delivery);
        const { waiting } = row ?? {};
        // Another claim, an endpoint that was deleted, or the same result again.
        if (row === undefined || !waiting?.underWay || waiting.attempts !== result.lease) continue;
        attempts.push(toAttempt(result, waiting.underWay.attemptedAt));
        rows.set(result.delivery, { ...row, waiting: finished(waiting, result) });
        const endpoint = endpoints.get(row.endpointId);
        if (endpoint !== undefined)
          endpoints.set(row.endpointId, counted(endpoint, result.succeeded, rules.breakerThreshold));
      }
      if (attempts.length === 0) return [];
      this.#queue.addAttempts(attempts);
      this.#queue.save([...rows.values()].filter(({ waiting }) => waiting.underWay === null));
      return await this.#follow(before, endpoints, rules);
    });
  }

  async #underWay(results: readonly FinishedAttempt[]): Promise<UnderWay> {
    const { connection, interests, memory } = this.#parts;
    const known = await memory.rows();
    if (known !== null) {
      const found = results.flatMap(({ delivery }) => known.get(delivery) ?? []);
      const endpoints = found.flatMap(({ endpointId }) => interests.subscription(endpointId) ?? []);
      return {
        rows: new Map(found.map((row) => [row.delivery, row])),
        endpoints: new Map(endpoints.map((endpoint) => [endpoint.endpointId, endpoint])),
      };
    }
    const numbers = listOf(results.map(({ delivery }) => delivery));
    const found = await connection.rows(
      `SELECT w.*, e.is_active, e.consecutive_failures FROM (${WAITING.select(`WHERE attempted_at IS NOT NULL AND delivery IN (${numbers})`)}) w JOIN webhook_endpoints e ON e.id = w.endpoint_id::UUID`,
    );
    return {
      rows: new Map(found.map((row) => [Number(row.delivery), toWaitingRow(row)])),
      endpoints: new Map(
        found.map((row) => [
          String(row.endpoint_id),
          { isActive: row.is_active === true, failures: Number(row.consecutive_failures) },
        ]),
      ),
    };
  }

  /** Writes what changed of the endpoints. @returns those that were paused */
  async #follow(
    before: ReadonlyMap<string, BreakerState>,
    endpoints: ReadonlyMap<string, BreakerState>,
    rules: FinishedRules,
  ): Promise<readonly string[]> {
    const changed = [...endpoints].filter(([id, { failures }]) => before.get(id)?.failures !== failures);
    if (changed.length === 0) return [];
    const { connection, interests, memory } = this.#parts;
    memory.endpointsOutdated();
    connection.afterCommit(() => {
      for (const [id, { isActive, failures }] of changed) {
        const endpoint = interests.subscription(id);
        if (endpoint) interests.put({ ...endpoint, isActive, failures });
      }
    });
    await connection.run(
      ...ENDPOINTS.updateAll(
        'id',
        changed.map(([id, { isActive, failures }]) => ({
          id,
          is_active: isActive,
          consecutive_failures: failures,
        })),
      ),
    );
    const paused = changed.flatMap(([id, { isActive }]) => (before.get(id)?.isActive && !isActive ? id : []));
    if (paused.length > 0) {
      await this.#queue.forgetManual(paused);
      for (const id of paused) await this.#tellOfPause(id, rules);
    }
    return paused;
  }

  async #tellOfPause(id: string, { now }: FinishedRules): Promise<void> {
    const { connection, events } = this.#parts;
    const [row] = await connection.rows(ENDPOINTS.select('WHERE id = ?::UUID'), [id]);
    if (row === undefined) return;
    const { name, url, consecutive_failures } = toEndpoint(row);
    await events.add({
      type: 'webhook.endpoint.disabled',
      owner: { organizationId: String(row.organization_id) },
      now,
      data: {
        endpoint_id: id,
        endpoint_name: name,
        url,
        consecutive_failures,
        disabled_at: formatTime(now),
      },
    });
  }
}

function toAttempt(result: FinishedAttempt, attemptedAt: number): Row {
  return {
    delivery: result.delivery,
    attempt_number: result.lease,
    attempted_at: attemptedAt,
    succeeded: result.succeeded,
    http_status_code: result.statusCode,
    response_body: result.responseBody,
    duration_ms: Math.round(result.durationMs),
    error_message: result.error,
  };
}

import type { Row, Value } from '../connection.js';
import type { Waiting } from '../../delivery-state.js';

/** What never changes of a delivery. */
export interface DeliveryIds {
  readonly delivery: number;
  /** UUIDv7 */
  readonly id: string;
  /** The number of its event. */
  readonly event: number;
  readonly endpointId: string;
}

/** A row of `waiting_deliveries`. */
export interface WaitingRow extends DeliveryIds {
  readonly waiting: Waiting;
}

export function toWaitingRow(row: Row): WaitingRow {
  const waiting: Waiting = {
    dueAt: numberOrNull(row.due_at),
    step: Number(row.step),
    manual: Number(row.manual),
    attempts: Number(row.attempts),
    underWay:
      row.attempted_at === null
        ? null
        : { attemptedAt: Number(row.attempted_at), isManual: row.is_manual === true },
  };
  return {
    delivery: Number(row.delivery),
    id: String(row.id),
    event: Number(row.event),
    endpointId: String(row.endpoint_id),
    waiting,
  };
}

export function fromWaitingRow({ delivery, id, event, endpointId, waiting }: WaitingRow): Row {
  const { underWay } = waiting;
  return {
    delivery,
    id,
    event,
    endpoint_id: endpointId,
    due_at: waiting.dueAt,
    step: waiting.step,
    manual: waiting.manual,
    attempts: waiting.attempts,
    attempted_at: underWay?.attemptedAt ?? null,
    is_manual: underWay?.isManual ?? null,
  };
}

export function numberOrNull(value: Value | undefined): number | null {
  return typeof value === 'number' ? value : null;
}

/** Numbers for `IN (…)`; they have to be whole ones. None: no row has it. */
export function listOf(numbers: readonly number[]): string {
  return numbers.length === 0 ? 'NULL' : numbers.map((number) => BigInt(number).toString()).join(', ');
}

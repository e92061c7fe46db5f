import { must } from '../../../signal/checked.js';
import type { Micros } from '../../../signal/time.js';
import { indexOf } from '../../table.js';
import { TRACE_WIRE } from '../../tables.js';
import type { CountedRun } from '../figures/counted-run.js';
import type { StoredHeader } from '../runs/trace-state.js';
import type { IncomingBatch } from '../../incoming/incoming-batch.js';

/** What runs add to the figures, from where they are met. */

export function countedAt({ tenant, traces }: IncomingBatch, trace: number, agentNo: number): CountedRun {
  const numberAt = (column: number): number | null => {
    const value = traces.value(column, trace);
    return typeof value === 'number' ? value : null;
  };
  const success = traces.value(SUCCESS, trace);
  return {
    tenant,
    agentNo,
    status: must(numberAt(STATUS), 'status of a run'),
    kind: must(numberAt(KIND), 'kind of a run'),
    startedAt: must(numberAt(STARTED_AT), 'start of a run'),
    success: typeof success === 'boolean' ? success : null,
    cost: numberAt(TOTAL_COST_USD),
    durationMs: numberAt(DURATION_MS),
  };
}

export function countedHeader(tenant: number, { agentNo, header }: StoredHeader): CountedRun {
  return {
    tenant,
    agentNo,
    kind: header.kind,
    status: header.status,
    startedAt: header.started_at,
    success: header.success,
    cost: header.total_cost_usd,
    durationMs: header.duration_ms,
  };
}

/** When a whole trace was last active, as {@link RunChanges} tells it; for one that goes on `RunState.activeAt` says it. */
export function activeAt({ traces, receivedAt }: IncomingBatch, trace: number): Micros {
  const ended = traces.value(ENDED_AT, trace);
  const last = Math.max(
    Number(traces.value(STARTED_AT, trace)),
    typeof ended === 'number' ? ended : -Infinity,
  );
  return Math.min(last, receivedAt);
}

const KIND = indexOf(TRACE_WIRE, 'kind');
const STATUS = indexOf(TRACE_WIRE, 'status');
const STARTED_AT = indexOf(TRACE_WIRE, 'started_at');
const ENDED_AT = indexOf(TRACE_WIRE, 'ended_at');
const DURATION_MS = indexOf(TRACE_WIRE, 'duration_ms');
const SUCCESS = indexOf(TRACE_WIRE, 'success');
const TOTAL_COST_USD = indexOf(TRACE_WIRE, 'total_cost_usd');

import type { Retold } from '../../../runs/spans/run-spans.js';
import type { StoredRuns } from '../../../runs/stored-runs.js';
import { uuidKey } from '../../../worker/uuid-words.js';
import type { LoadedGroup } from '../runs/completed-spans.js';
import type { RunSize } from '../runs/run-size.js';
import type { TraceState } from '../runs/trace-state.js';
import type { NewParts, TouchedTrace } from '../runs/triage.js';

/**
 * Where what a group brings has something else count of spans (`runs/rules/told-calls.ts`), has that written: with new spans that
 * come from the sender's columns, in these; of stored spans as new versions. Of these no more payloads are read than
 * {@link RunSize.commitPayloadBytes} for the whole group: what is left is written with the next commit that touches the run, whose
 * totals do not depend on it.
 */
export async function tellAgain(
  { touched, fresh, states }: LoadedGroup,
  stored: StoredRuns<TraceState>,
  { commitPayloadBytes }: RunSize,
): Promise<void> {
  let left = commitPayloadBytes;
  for (const [key, trace] of touched) {
    const state = states.get(key);
    const retold = state?.retold() ?? [];
    if (state === undefined || retold.length === 0) continue;
    const isToRead = ({ span_id: id }: Retold): boolean => {
      const span = state.find(id);
      return span !== undefined && span.seq > 0 && span.row === undefined;
    };
    const toRead = retold.filter(isToRead);
    const keys = toRead.map(({ span_id: id }) => id);
    const read =
      left > 0 && keys.length > 0
        ? await stored.readWhole(trace.tenant, state, keys, left)
        : { keys: 0, bytes: 0 };
    left -= read.bytes;
    const unread = new Set(toRead.slice(read.keys));
    const told = retold.filter((one) => !unread.has(one));
    for (const one of told) state.tell(one);
    tellBatches(trace, fresh, told);
  }
}

function tellBatches({ parts }: TouchedTrace, fresh: NewParts, retold: readonly Retold[]): void {
  const told = new Map(retold.map((one) => [one.span_id, one.told]));
  for (const part of parts) {
    if (!('batch' in part) || fresh.get(part.batch)?.has(part.trace) !== true) continue;
    const { batch, trace } = part;
    for (let row = batch.start(trace); row < batch.end(trace); row++) {
      const now = told.get(uuidKey(batch.spanIds, row * 4));
      if (now !== undefined) batch.tell(row, now);
    }
  }
}

import { spansOf } from '../../../runs/spans/spans-of.js';
import { CommitRanges } from '../segments/commit-ranges.js';
import { headerAt, isRunningAt, newSpansAt } from '../../incoming/incoming-rows.js';
import type { RunSize } from './run-size.js';
import { TraceState } from './trace-state.js';
import type { IncomingBatch } from '../../incoming/incoming-batch.js';

/** The state of a whole trace that has just been stored. */
export function wholeState(
  batch: IncomingBatch,
  trace: number,
  { seq, agentNo, size }: { readonly seq: number; readonly agentNo: number; readonly size: RunSize },
): TraceState {
  const [start, end] = [batch.start(trace), batch.end(trace)];
  const named = headerAt(batch, trace);
  const stored = { seq, agentNo, header: named.header };
  const place = {
    heardAt: batch.receivedAt,
    stored,
    commits: start === end ? CommitRanges.NONE : CommitRanges.of(seq),
    isMapped: batch.map !== null,
    hasEnded: !isRunningAt(batch, trace),
  };
  const state = new TraceState(named, place, size);
  const spans = newSpansAt(batch, trace, (row) => batch.nodeAt(row));
  for (const [line, span] of spans.entries()) {
    span.seq = seq;
    span.line = line;
    span.changed = false;
  }
  state.spans = spansOf(spans, size);
  return state;
}

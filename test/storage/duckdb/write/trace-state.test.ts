import t from 'tap';
import { NO_NODE } from '../../../../src/signal/service-map.js';
import { CommitRanges } from '../../../../src/storage/duckdb/segments/commit-ranges.js';
import { RUN_SIZE } from '../../../../src/storage/duckdb/write/run-size.js';
import { TraceState } from '../../../../src/storage/duckdb/write/trace-state.js';
import { NOON } from '../../../support/run-records.js';
import { headerRow, spanRow } from '../incoming-records.js';

const NO_NODES = { incoming: () => NO_NODE, completed: () => NO_NODE };

function aState(place: Pick<TraceState, 'stored' | 'commits'>): TraceState {
  const known = { lastSeenAt: NOON, isMapped: false, hasEnded: false };
  return new TraceState(headerRow({ status: 'running' }), { ...known, ...place }, RUN_SIZE);
}

function commitsOf({ commits }: TraceState): number[] {
  return [commits.first, commits.last];
}

void t.test('tracks the commits of the spans and of the header', async (t) => {
  const state = aState({ stored: null, commits: CommitRanges.NONE });
  t.same(state.finish(3), { spans: [], writesHeader: true, ends: false });
  t.same(commitsOf(state), [0, 0]);
  t.match(state.committed(3, 1, []), { seq: 3, agentNo: 1, header: state.header });
  const { row, payload } = spanRow({ status: 'running' });
  state.applySpan(row, payload, NO_NODES);
  const { spans } = state.finish(7);
  t.same(commitsOf(state), [7, 7]);
  state.committed(7, 1, spans);
  t.equal(state.stored?.seq, 7);
});

void t.test('a header alone adds no commit to those of the spans', async (t) => {
  const { header } = headerRow({ status: 'running' });
  const state = aState({ stored: { seq: 5, agentNo: 1, header }, commits: CommitRanges.of(5) });
  state.applyHeader(headerRow({ status: 'failed' }), [], NOON);
  t.ok(state.finish(9).writesHeader);
  t.same(commitsOf(state), [5, 5]);
});

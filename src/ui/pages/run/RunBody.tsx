import { useCallback, useEffect, useRef } from 'react';
import { Split } from '../../parts/Split.js';
import { TraceGrid } from '../../trace/TraceGrid.js';
import { hasFailed } from '../../trace/span.js';
import { useTraceView } from '../../trace/use-trace-view.js';
import { useNowWhile } from '../../state/clock.js';
import { useUrlState } from '../../state/use-url-state.js';
import { usePayloadTexts, type LoadedRun } from './load-run.js';
import { RUN_STATE } from './run-state.js';
import { RunPanel } from './RunPanel.js';
import { RunTools } from './RunTools.js';
import { useRunKeys } from './use-run-keys.js';
import styles from './run.module.css';

/** The span tree with its timeline, next to the conversation or the selected span. */
export function RunBody({ loaded: { run, spans } }: { readonly loaded: LoadedRun }) {
  const [state, change] = useUrlState(RUN_STATE);
  const isRunning = run.status === 'running' || spans.some(({ end }) => end === null);
  const now = useNowWhile(isRunning);
  const payloads = usePayloadTexts(run.trace_id, spans, state.q !== '');
  const view = useTraceView(spans, now, state, payloads.texts);
  const grid = useRef<HTMLDivElement>(null);
  const search = useRef<HTMLInputElement>(null);

  // Without a span in the link: the first failure, or the root.
  const preferred =
    view.nodes.find(({ span, failedBelow }) => hasFailed(span) && failedBelow === 0) ?? view.nodes[0];
  const index = view.indexOf(state.span) ?? preferred?.index ?? 0;
  const row = view.rows.findLastIndex(({ node, kind }) => node.index === index && kind === 'span');
  const folded =
    row >= 0
      ? row
      : view.rows.findIndex((each) => each.kind === 'repeat' && each.repeat.members.includes(index));

  const select = useCallback(
    (id: string, step: 'push' | 'replace' = 'replace') => {
      change({ span: id, tab: '' }, step);
    },
    [change],
  );
  const show = (at: number, step: 'push' | 'replace' = 'push'): void => {
    view.reveal(at);
    select(view.nodes[at]?.span.id ?? '', step);
  };
  useJump(state.q, view.hits, index, show);
  // The span of a link may be inside a group of repeats.
  const handled = useRef(false);
  useEffect(() => {
    if (handled.current) return;
    handled.current = true;
    if (row < 0) view.reveal(index);
  });
  const selectRow = (at: number): void => {
    const node = view.rows[at]?.node;
    if (node) select(node.span.id);
  };
  useRunKeys({ view, index, row: folded, grid, search, state, change, selectRow, show });

  const panel = <RunPanel run={run} view={view} index={index} state={state} change={change} onShow={show} />;
  if (state.full) return panel;
  return (
    <>
      <RunTools
        view={view}
        index={index}
        state={state}
        payloads={payloads}
        search={search}
        change={change}
        show={show}
      />
      <Split name="run-split" label="Width of the tree" className={styles['split']}>
        <TraceGrid view={view} selected={folded} grid={grid} onSelect={selectRow} />
        {panel}
      </Split>
    </>
  );
}

/** Selects the first match after the current span once a search has one. */
function useJump(
  query: string,
  hits: readonly number[],
  index: number,
  show: (index: number, step: 'replace') => void,
): void {
  // The span of a link is not left for its search.
  const done = useRef(query);
  useEffect(() => {
    if (query === done.current || hits.length === 0) return;
    done.current = query;
    const next = hits.find((at) => at >= index) ?? hits[0];
    if (query !== '' && next !== undefined) show(next, 'replace');
  });
}

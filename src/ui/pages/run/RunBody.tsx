import { useCallback, useEffect, useRef } from 'react';
import { TraceGrid } from '../../trace/TraceGrid.js';
import { hasFailed } from '../../trace/span.js';
import { useTraceView } from '../../trace/use-trace-view.js';
import { useNowWhile } from '../../state/clock.js';
import { useUrlState } from '../../state/use-url-state.js';
import type { LoadedRun } from './load-run.js';
import { RUN_STATE } from './run-state.js';
import { RunTools } from './RunTools.js';
import { SpanPanel } from './SpanPanel.js';
import { useRunKeys } from './use-run-keys.js';
import styles from './run.module.css';

/** The span tree with its timeline, next to the selected span. */
export function RunBody({ loaded: { run, spans } }: { readonly loaded: LoadedRun }) {
  const [state, change] = useUrlState(RUN_STATE);
  const isRunning = run.status === 'running' || spans.some(({ end }) => end === null);
  const now = useNowWhile(isRunning);
  const view = useTraceView(spans, now, state);
  const grid = useRef<HTMLDivElement>(null);
  const search = useRef<HTMLInputElement>(null);

  // Without a span in the link: the first failure, or the root.
  const preferred =
    view.nodes.find(({ span, failedBelow }) => hasFailed(span) && failedBelow === 0) ?? view.nodes[0];
  const index = view.indexOf(state.span) ?? preferred?.index ?? 0;
  const span = view.nodes[index]?.span;
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
  const show = (at: number): void => {
    view.reveal(at);
    select(view.nodes[at]?.span.id ?? '', 'push');
  };
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

  return (
    <>
      <RunTools view={view} index={index} state={state} search={search} change={change} show={show} />
      <div className={styles['split']}>
        <TraceGrid view={view} selected={folded} grid={grid} onSelect={selectRow} />
        {span && (
          <SpanPanel
            traceId={run.trace_id}
            scores={run.scores}
            node={view.nodes[index]}
            state={state}
            change={change}
            onShow={show}
            view={view}
          />
        )}
      </div>
    </>
  );
}

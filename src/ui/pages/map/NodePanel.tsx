import { Link } from 'wouter';
import { formatCounted, formatPercentage } from '../../format/number.js';
import { printHours, type Hours } from '../../graph/hours.js';
import { failedShare, type Graph, type GraphEdge, type GraphNode } from '../../graph/map-model.js';
import { Count, Duration } from '../../parts/figures.js';
import { cx } from '../../parts/cx.js';
import parts from '../../parts/parts.module.css';
import { SidePanel } from '../../parts/SidePanel.js';
import { NO_ERRORS, NO_P95, type ChangeMap } from './map-state.js';
import styles from './map.module.css';

/** A node: statistics, callers, callees and a link to its runs. */
export function NodePanel({
  node,
  graph,
  hours,
  change,
}: {
  readonly node: GraphNode;
  readonly graph: Graph;
  readonly hours: Hours;
  readonly change: ChangeMap;
}) {
  const { id, node_type, span_count, error_count, p95_ms } = node;
  const callers = graph.edges.filter(({ target }) => target === id);
  const called = graph.edges.filter(({ source }) => source === id);
  const select = (next: string): void => {
    change({ node: next });
  };
  return (
    <SidePanel
      label="Node"
      title={<span className={styles['title']}>{id}</span>}
      onClose={() => {
        change({ node: '', hops: 0 });
      }}
    >
      <dl>
        <dt>Type</dt>
        <dd>{node_type}</dd>
        <dt>Spans</dt>
        <dd>
          <Count value={span_count} missing="" />
        </dd>
        <dt>Failed</dt>
        <dd className={cx(error_count !== null && error_count > 0 && parts['bad'])}>
          <Count value={error_count} missing={NO_ERRORS} />
        </dd>
        <dt>p95</dt>
        <dd>
          <Duration value={p95_ms} missing={span_count === 0 ? 'No spans of its own' : NO_P95} />
        </dd>
      </dl>
      <p className={styles['runs']}>
        <Link href={runsOf(id, hours)}>Runs with this node</Link>
      </p>
      <Ends title="Called by" edges={callers} endOf={({ source }) => source} select={select} />
      <Ends title="Calls" edges={called} endOf={({ target }) => target} select={select} />
    </SidePanel>
  );
}

function runsOf(node: string, hours: Hours): string {
  const { start_time, end_time } = printHours(hours);
  const query = new URLSearchParams({ node, kind: 'all' });
  if (start_time !== undefined && end_time !== undefined) query.set('range', `${start_time}..${end_time}`);
  return `/runs?${query.toString()}`;
}

function Ends({
  title,
  edges,
  endOf,
  select,
}: {
  readonly title: string;
  readonly edges: readonly GraphEdge[];
  readonly endOf: (edge: GraphEdge) => string;
  readonly select: (node: string) => void;
}) {
  if (edges.length === 0) return null;
  return (
    <>
      <h3 className={styles['section']}>{title}</h3>
      <ul className={styles['ends']}>
        {edges
          .toSorted((a, b) => b.weight - a.weight)
          .map((edge) => {
            const share = failedShare(edge.error_count, edge.weight);
            return (
              <li key={endOf(edge)}>
                <button
                  type="button"
                  onClick={() => {
                    select(endOf(edge));
                  }}
                >
                  {endOf(edge)}
                </button>
                <small>
                  {formatCounted(edge.weight, 'call')}
                  {share !== null && share > 0 && (
                    <span className={parts['bad']}> · {formatPercentage(share * 100)} failed</span>
                  )}
                </small>
              </li>
            );
          })}
      </ul>
    </>
  );
}

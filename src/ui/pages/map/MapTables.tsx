import { failedShare, type Graph, type GraphEdge, type GraphNode } from '../../graph/map-model.js';
import { DataTable, type Column } from '../../parts/DataTable.js';
import { Count, Duration, Percentage } from '../../parts/figures.js';
import { cx } from '../../parts/cx.js';
import parts from '../../parts/parts.module.css';
import { Link, useSearch } from 'wouter';
import { NO_ERRORS, NO_P95, STATE } from './map-state.js';
import { parseState, printState } from '../../state/codec.js';
import styles from './map.module.css';

/** The service map as tables. */
export function MapTables({ graph }: { readonly graph: Graph }) {
  const query = useSearch();
  const hrefOf = (node: string): string => `/map?${printState(STATE, { ...parseState(STATE, query), node })}`;
  const edges = graph.edges.toSorted((a, b) => b.weight - a.weight);
  const nodes = graph.nodes.toSorted((a, b) => b.span_count - a.span_count);
  return (
    <div className={styles['tables']}>
      <h2>Edges</h2>
      <DataTable
        label="Edges"
        items={edges}
        columns={edgeColumns(hrefOf)}
        keyOf={({ source, target }) => JSON.stringify([source, target])}
        hrefOf={({ target }) => hrefOf(target)}
      />
      <h2>Nodes</h2>
      <DataTable
        label="Nodes"
        items={nodes}
        columns={nodeColumns(hrefOf)}
        keyOf={({ id }) => id}
        hrefOf={({ id }) => hrefOf(id)}
      />
    </div>
  );
}

function edgeColumns(hrefOf: (node: string) => string): readonly Column<GraphEdge>[] {
  return [
    {
      name: 'target',
      header: 'Callee',
      isWide: true,
      render: ({ target }) => <Link href={hrefOf(target)}>{target}</Link>,
    },
    { name: 'source', header: 'Caller', isWide: true, render: ({ source }) => source },
    {
      name: 'calls',
      header: 'Calls',
      isNumber: true,
      render: ({ weight }) => <Count value={weight} missing="" />,
    },
    ...figureColumns<GraphEdge>(({ weight }) => weight),
  ];
}

function nodeColumns(hrefOf: (node: string) => string): readonly Column<GraphNode>[] {
  return [
    {
      name: 'name',
      header: 'Node',
      isWide: true,
      render: ({ id }) => <Link href={hrefOf(id)}>{id}</Link>,
    },
    { name: 'type', header: 'Type', render: ({ node_type }) => node_type },
    {
      name: 'spans',
      header: 'Spans',
      isNumber: true,
      render: ({ span_count }) => <Count value={span_count} missing="" />,
    },
    ...figureColumns<GraphNode>(({ span_count }) => span_count),
  ];
}

function figureColumns<Item extends Pick<GraphEdge, 'error_count' | 'p95_ms'>>(
  countOf: (item: Item) => number,
): readonly Column<Item>[] {
  return [
    {
      name: 'failed',
      header: 'Failed',
      isNumber: true,
      render: (item) => {
        const share = failedShare(item.error_count, countOf(item));
        return (
          <span className={cx(share !== null && share > 0 && parts['bad'])}>
            <Percentage
              value={share === null ? null : share * 100}
              missing={countOf(item) === 0 ? 'No spans of its own' : NO_ERRORS}
            />
          </span>
        );
      },
    },
    {
      name: 'p95',
      header: 'p95',
      hint: '95th percentile of ended spans; accurate to 10%',
      isNumber: true,
      render: ({ p95_ms }) => <Duration value={p95_ms} missing={NO_P95} />,
    },
  ];
}

import { useState } from 'react';
import { Tab, TabList, TabPanel, Tabs } from 'react-aria-components';
import { member, textOf, type Json } from '../../json/parse.js';
import { CopyButton } from '../../parts/CopyButton.js';
import parts from '../../parts/parts.module.css';
import { TableSkeleton } from '../../parts/Skeleton.js';
import { Failure } from '../../parts/states.js';
import { Status } from '../../parts/Status.js';
import { TypeIcon, TYPE_LABELS } from '../../parts/TypeIcon.js';
import { BASE } from '../../api/base.js';
import type { TreeNode } from '../../trace/tree.js';
import type { TraceView } from '../../trace/use-trace-view.js';
import { AttributesTab } from './AttributesTab.js';
import { hasConversation, MessagesTab } from './MessagesTab.js';
import { JsonTab } from './JsonTab.js';
import { LogsTab } from './LogsTab.js';
import { useSpan } from './load-run.js';
import { RunAlerts } from './RunAlerts.js';
import { RunDeliveries } from './RunDeliveries.js';
import type { RunState, Tab as TabName } from './run-state.js';
import { SpanFacts } from './SpanFacts.js';
import styles from './run.module.css';

interface Props {
  readonly traceId: string;
  readonly node: TreeNode | undefined;
  readonly view: TraceView;
  readonly state: RunState;
  readonly change: (some: Partial<RunState>, step?: 'push' | 'replace') => void;
  readonly onShow: (index: number) => void;
}

const NAMES: Readonly<Record<Exclude<TabName, ''>, string>> = {
  messages: 'Messages',
  json: 'JSON',
  error: 'Error',
  attributes: 'Attributes',
  logs: 'Logs',
  alerts: 'Alerts',
  deliveries: 'Deliveries',
};

/** Details of the selected span in tabs. */
export function SpanPanel({ traceId, node, view, state, change, onShow }: Props) {
  const span = node?.span;
  const [whole, setWhole] = useState('');
  const isWhole = span !== undefined && whole === span.id;
  const { data, error, refetch } = useSpan(traceId, span, isWhole);
  if (!node || !span) return null;
  const tabs = tabsOf(data, span.error);
  // The first tab is the most informative for this span.
  const tab = tabs.find((each) => each === state.tab) ?? tabs[0] ?? 'json';
  const link = `${new URL(`traces/${traceId}`, BASE).href}?span=${span.id}`;
  return (
    <section className={styles['panel']} aria-label="Span">
      <div className={styles['panelHead']}>
        <TypeIcon type={span.type} />
        <h2>{span.name === '' ? TYPE_LABELS[span.type] : span.name}</h2>
        <Status status={span.status} />
        <CopyButton label="Copy link" text={() => link} />
      </div>
      <SpanFacts node={node} detail={data} view={view} onShow={onShow} />
      {isCut(data) && (
        <p className={parts['label']} role="status">
          Long values truncated.
          <button
            type="button"
            className={parts['button']}
            onClick={() => {
              setWhole(span.id);
            }}
          >
            Load full content
          </button>
        </p>
      )}
      {data === undefined ? (
        error ? (
          <Failure error={error} retry={() => void refetch()} />
        ) : (
          <TableSkeleton rows={6} />
        )
      ) : (
        <Tabs
          className={styles['tabs'] ?? ''}
          selectedKey={tab}
          onSelectionChange={(key) => {
            change({ tab: tabs.find((each) => each === key) ?? '' }, 'replace');
          }}
        >
          <TabList className={styles['tabList'] ?? ''} aria-label="Span details">
            {tabs.map((each) => (
              <Tab key={each} id={each} className={styles['tab'] ?? ''}>
                {NAMES[each]}
              </Tab>
            ))}
          </TabList>
          {tabs.map((each) => (
            <TabPanel key={each} id={each} className={styles['tabPanel'] ?? ''}>
              <Content tab={each} detail={data} traceId={traceId} spanId={span.id} />
            </TabPanel>
          ))}
        </Tabs>
      )}
    </section>
  );
}

function isCut(detail: Json | undefined): boolean {
  const cut = member(detail, 'is_truncated');
  return cut?.kind === 'literal' && cut.value === true;
}

function tabsOf(detail: Json | undefined, error: string | null): readonly Exclude<TabName, ''>[] {
  return [
    ...(error === null ? [] : (['error'] as const)),
    ...(detail !== undefined && hasConversation(detail) ? (['messages'] as const) : []),
    'json',
    'attributes',
    'logs',
    'alerts',
    'deliveries',
  ];
}

function Content({
  tab,
  detail,
  traceId,
  spanId,
}: {
  readonly tab: Exclude<TabName, ''>;
  readonly detail: Json;
  readonly traceId: string;
  readonly spanId: string;
}) {
  switch (tab) {
    case 'messages':
      return <MessagesTab detail={detail} />;
    case 'json':
      return <JsonTab detail={detail} />;
    case 'error':
      return (
        <pre className={styles['errorText']}>
          {textOf(detail, 'error_message') ?? textOf(member(detail, 'status_message'))}
        </pre>
      );
    case 'attributes':
      return <AttributesTab detail={detail} />;
    case 'logs':
      return <LogsTab traceId={traceId} spanId={spanId} />;
    case 'alerts':
      return <RunAlerts traceId={traceId} />;
    case 'deliveries':
      return <RunDeliveries traceId={traceId} />;
  }
}

import { useState } from 'react';
import { Tab, TabList, TabPanel, Tabs } from 'react-aria-components';
import { JsonView } from '../../json/JsonView.js';
import { member, textOf, type Json } from '../../json/parse.js';
import { readConversation } from '../../messages/conversation.js';
import { MessageView } from '../../messages/MessageView.js';
import { CopyButton } from '../../parts/CopyButton.js';
import parts from '../../parts/parts.module.css';
import { TableSkeleton } from '../../parts/Skeleton.js';
import { Failure } from '../../parts/states.js';
import { Status } from '../../parts/Status.js';
import { TypeIcon, TYPE_LABELS } from '../../parts/TypeIcon.js';
import { BASE } from '../../api/base.js';
import { useMe } from '../../shell/Session.js';
import type { TreeNode } from '../../trace/tree.js';
import type { TraceView } from '../../trace/use-trace-view.js';
import { Firings } from '../alerts/Firings.js';
import { useAlertUpdates, useFirings } from '../alerts/load.js';
import { Deliveries } from '../webhooks/Deliveries.js';
import { useEndpoints } from '../webhooks/load.js';
import { AttributesTab } from './AttributesTab.js';
import { LogsTab } from './LogsTab.js';
import { useSpan, type LoadedRun } from './load-run.js';
import type { RunState, Tab as TabName } from './run-state.js';
import { SpanFacts } from './SpanFacts.js';
import styles from './run.module.css';

interface Props {
  readonly traceId: string;
  /** Of the whole run. */
  readonly scores: LoadedRun['run']['scores'];
  readonly node: TreeNode | undefined;
  readonly view: TraceView;
  readonly state: RunState;
  readonly change: (some: Partial<RunState>, step?: 'push' | 'replace') => void;
  readonly onShow: (index: number) => void;
}

const FIRINGS_LIMIT = 50;
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
export function SpanPanel({ traceId, scores, node, view, state, change, onShow }: Props) {
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
      <SpanFacts
        node={node}
        scores={scores.filter(({ span_id }) => span_id === span.id)}
        detail={data}
        view={view}
        onShow={onShow}
      />
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

/** Whether a span contains a conversation. */
function hasConversation(detail: Json): boolean {
  return conversationsOf(detail).length > 0;
}

function conversationsOf(detail: Json) {
  return (['input', 'output'] as const).flatMap((side) => {
    const value = member(detail, `${side}_data`);
    const conversation = value === undefined ? undefined : readConversation(value, side);
    return conversation === undefined ? [] : [{ side, conversation }];
  });
}

/** The conversation of a span, followed by the rest of its payload. */
function MessagesTab({ detail }: { readonly detail: Json }) {
  const sides = conversationsOf(detail);
  const messages = sides.flatMap(({ conversation }) => conversation.messages);
  const unread = (['input', 'output'] as const).flatMap((side) => {
    const value = member(detail, `${side}_data`);
    const isRead = sides.some((each) => each.side === side);
    const isNothing = value === undefined || (value.kind === 'literal' && value.value === null);
    return isRead || isNothing ? [] : [{ side, value }];
  });
  const plain = (of: 'input' | 'output') =>
    unread
      .filter(({ side }) => side === of)
      .map(({ side, value }) => (
        <section key={side} className={styles['stack']}>
          <h3>{side === 'input' ? 'Input' : 'Output'}</h3>
          <JsonView value={value} label={side} />
        </section>
      ));
  return (
    <div className={styles['stack']}>
      {plain('input')}
      <MessageView conversation={{ messages, rest: [] }} />
      {plain('output')}
      {sides
        .filter(({ conversation }) => conversation.rest.length > 0)
        .map(({ side, conversation }) => (
          <details key={side} className={styles['rest']}>
            <summary>{side === 'input' ? 'Request parameters' : 'Response details'}</summary>
            <JsonView
              value={{ kind: 'object', entries: conversation.rest }}
              label={side === 'input' ? 'request parameters' : 'response details'}
            />
          </details>
        ))}
    </div>
  );
}

const SIDES = [
  ['input_data', 'Input'],
  ['output_data', 'Output'],
  ['metadata', 'Metadata'],
] as const;

/** Input and output as sent. */
function JsonTab({ detail }: { readonly detail: Json }) {
  const there = SIDES.flatMap(([key, name]) => {
    const value = member(detail, key);
    return value === undefined || (value.kind === 'literal' && value.value === null) ? [] : [{ name, value }];
  });
  if (there.length === 0) return <p className={parts['faint']}>This span has no input or output.</p>;
  return (
    <div className={styles['stack']}>
      {there.map(({ name, value }) => (
        <section key={name} className={styles['stack']}>
          <h3>{name}</h3>
          <JsonView value={value} label={name} />
        </section>
      ))}
    </div>
  );
}

/** Firings related to a run. */
function RunAlerts({ traceId }: { readonly traceId: string }) {
  const { data, error, refetch } = useFirings({ trace_id: traceId, page: 1, page_size: FIRINGS_LIMIT });
  useAlertUpdates();
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  if (!data) return <TableSkeleton rows={3} />;
  if (data.items.length === 0) return <p className={parts['faint']}>No alerts triggered by this run.</p>;
  return (
    <>
      {data.count > FIRINGS_LIMIT && (
        <p className={parts['faint']}>
          Latest {FIRINGS_LIMIT} of {data.count}
        </p>
      )}
      <Firings label="Alerts triggered by this run" firings={data.items} withRule withRuns={false} />
    </>
  );
}

/** Webhook deliveries for a run in each organization of the user. */
function RunDeliveries({ traceId }: { readonly traceId: string }) {
  const { memberships } = useMe();
  if (memberships.length === 0)
    return <p className={parts['faint']}>Webhooks belong to organizations; you are not a member of one.</p>;
  return (
    <div className={styles['stack']}>
      {memberships.map(({ slug, name }) => (
        <section key={slug} aria-label={`Deliveries of ${name}`}>
          {memberships.length > 1 && <h3>{name}</h3>}
          <DeliveriesOf org={slug} traceId={traceId} />
        </section>
      ))}
    </div>
  );
}

function DeliveriesOf({ org, traceId }: { readonly org: string; readonly traceId: string }) {
  const [open, setOpen] = useState('');
  const endpoints = useEndpoints(org);
  return (
    <Deliveries
      org={org}
      filter={{ trace_id: traceId }}
      endpoints={endpoints.data ?? []}
      open={open}
      onOpen={setOpen}
      nothing="No webhook deliveries"
    />
  );
}

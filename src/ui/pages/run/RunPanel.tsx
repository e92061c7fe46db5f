import { ExternalLink, Maximize2, Minimize2 } from 'lucide-react';
import { useEffect, useMemo, useRef, useState } from 'react';
import { Tab, TabList, TabPanel, Tabs } from 'react-aria-components';
import { BASE } from '../../api/base.js';
import { cx } from '../../parts/cx.js';
import parts from '../../parts/parts.module.css';
import { TableSkeleton } from '../../parts/Skeleton.js';
import { Failure } from '../../parts/states.js';
import { useMe } from '../../shell/Session.js';
import { printState } from '../../state/codec.js';
import { useShortcuts } from '../../state/shortcuts.js';
import { hasFailed } from '../../trace/span.js';
import type { TraceView } from '../../trace/use-trace-view.js';
import { Firings } from '../alerts/Firings.js';
import { useAlertUpdates, useFirings } from '../alerts/load.js';
import { Deliveries } from '../webhooks/Deliveries.js';
import { useEndpoints } from '../webhooks/load.js';
import { Conversation, type ReadingPlace } from './Conversation.js';
import type { LoadedRun } from './load-run.js';
import { RUN_STATE, RUN_TABS, type RunState, type RunTab } from './run-state.js';
import { SpanPanel } from './SpanPanel.js';
import { isConversation, stepsOf } from './steps.js';
import styles from './run.module.css';

interface Props {
  readonly run: LoadedRun['run'];
  readonly view: TraceView;
  /** Index of the selected span. */
  readonly index: number;
  readonly state: RunState;
  readonly change: (some: Partial<RunState>, step?: 'push' | 'replace') => void;
  readonly onShow: (index: number) => void;
}

const NAMES: Readonly<Record<RunTab, string>> = {
  conversation: 'Conversation',
  span: 'Span',
  alerts: 'Alerts',
  deliveries: 'Deliveries',
};
const FIRINGS_LIMIT = 50;

/** The run as a conversation, the selected span, and what the run caused. */
export function RunPanel({ run, view, index, state, change, onShow }: Props) {
  const steps = useMemo(() => stepsOf(view.nodes), [view.nodes]);
  const place = useRef<ReadingPlace>(undefined);
  const isRead = isConversation(steps);
  const tab = tabOf(state, isRead);
  const link = (some: Partial<RunState>): string => {
    const printed = printState(RUN_STATE, { ...state, q: '', ...some });
    return `traces/${run.trace_id}${printed === '' ? '' : `?${printed}`}`;
  };
  useFullScreen(state.full, () => {
    change({ full: false }, 'replace');
  });
  useShortcuts({
    f: () => {
      change({ full: !state.full }, 'replace');
    },
    s: () => {
      if (isRead) change({ tab: tab === 'conversation' ? 'span' : 'conversation' });
    },
  });
  const Size = state.full ? Minimize2 : Maximize2;
  const button = cx(parts['button'], parts['iconButton']);
  return (
    <Tabs
      className={styles['panel'] ?? ''}
      selectedKey={tab}
      onSelectionChange={(key) => {
        const chosen = RUN_TABS.find((each) => each === key);
        if (chosen !== undefined && chosen !== tab) change({ tab: chosen }, 'replace');
      }}
    >
      <div className={styles['panelBar']}>
        <TabList className={styles['tabList'] ?? ''} aria-label="Run">
          {RUN_TABS.filter((each) => isRead || each !== 'conversation').map((each) => (
            <Tab key={each} id={each} className={styles['tab'] ?? ''}>
              {NAMES[each]}
            </Tab>
          ))}
        </TabList>
        {!state.full && (
          <a
            className={button}
            href={new URL(link({ full: true }), BASE).href}
            target="_blank"
            rel="noopener noreferrer"
            aria-label="Open this panel in a new tab"
            title="Open this panel in a new tab"
          >
            <ExternalLink size={14} aria-hidden="true" />
          </a>
        )}
        <button
          type="button"
          className={button}
          aria-pressed={state.full}
          aria-label="Full screen"
          title={state.full ? 'Leave full screen (F or Esc)' : 'Full screen (F)'}
          onClick={() => {
            change({ full: !state.full }, 'replace');
          }}
        >
          <Size size={14} aria-hidden="true" />
        </button>
      </div>
      <TabPanel id={tab} className={styles['panelBody'] ?? ''}>
        {tab === 'conversation' && (
          <Conversation
            traceId={run.trace_id}
            view={view}
            steps={steps}
            // A failed run opens at its failure.
            start={state.span === '' && !hasFailed(run) ? undefined : index}
            place={place}
            hrefOf={({ id }) => `/${link({ span: id, tab: '' })}`}
          />
        )}
        {tab === 'span' && (
          <SpanPanel
            traceId={run.trace_id}
            scores={run.scores}
            node={view.nodes[index]}
            state={state}
            change={change}
            onShow={onShow}
            view={view}
          />
        )}
        {tab === 'alerts' && (
          <div className={styles['ofRun']}>
            <RunAlerts traceId={run.trace_id} />
          </div>
        )}
        {tab === 'deliveries' && (
          <div className={styles['ofRun']}>
            <RunDeliveries traceId={run.trace_id} />
          </div>
        )}
      </TabPanel>
    </Tabs>
  );
}

function tabOf({ tab, span }: RunState, isRead: boolean): RunTab {
  if (tab === 'conversation' || (tab === '' && span === '')) return isRead ? 'conversation' : 'span';
  return RUN_TABS.find((each) => each === tab) ?? 'span';
}

/** Hides the navigation while the panel fills the window; Escape ends it. */
function useFullScreen(isFull: boolean, leave: () => void): void {
  useEffect(() => {
    if (!isFull) return undefined;
    document.documentElement.dataset['full'] = 'true';
    return () => {
      delete document.documentElement.dataset['full'];
    };
  }, [isFull]);
  useShortcuts(isFull ? { Escape: leave } : {});
}

/** Firings related to a run. */
function RunAlerts({ traceId }: { readonly traceId: string }) {
  const { data, error, refetch } = useFirings({ trace_id: traceId }, 1, FIRINGS_LIMIT);
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

import { useQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { Tab, TabList, TabPanel, Tabs } from 'react-aria-components';
import { BASE } from '../../api/base.js';
import { JsonView } from '../../json/JsonView.js';
import { member, textOf, type Json } from '../../json/parse.js';
import { readConversation } from '../../messages/conversation.js';
import { divided } from '../../messages/history.js';
import type { Conversation as Messages } from '../../messages/message.js';
import { LoadWhole } from '../../messages/MediaView.js';
import { MessageView } from '../../messages/MessageView.js';
import { conversationSpans, turnOf } from '../../messages/turn.js';
import { formatCounted } from '../../format/number.js';
import { CopyButton } from '../../parts/CopyButton.js';
import parts from '../../parts/parts.module.css';
import { TableSkeleton } from '../../parts/Skeleton.js';
import { Failure } from '../../parts/states.js';
import { Status } from '../../parts/Status.js';
import { TypeIcon, TYPE_LABELS } from '../../parts/TypeIcon.js';
import { printState } from '../../state/codec.js';
import { hasFailed } from '../../trace/span.js';
import type { TreeNode } from '../../trace/tree.js';
import type { TraceView } from '../../trace/use-trace-view.js';
import { AttributesTab } from './AttributesTab.js';
import { Folded } from './Conversation.js';
import { LogsTab } from './LogsTab.js';
import { MAX_BYTES, spanQuery, useSpan, type LoadedRun } from './load-run.js';
import { valueOf } from './read-turn.js';
import { RUN_STATE, SPAN_TABS, type RunState, type SpanTab } from './run-state.js';
import { SpanFacts } from './SpanFacts.js';
import { useMarks } from './use-marks.js';
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

const NAMES: Readonly<Record<SpanTab, string>> = {
  messages: 'Input and output',
  json: 'JSON',
  attributes: 'Attributes',
  logs: 'Logs',
};

/** Details of the selected span in tabs; its error stands above them. */
export function SpanPanel({ traceId, scores, node, view, state, change, onShow }: Props) {
  const span = node?.span;
  const [whole, setWhole] = useState('');
  const isWhole = span !== undefined && whole === span.id;
  const { data, error, refetch } = useSpan(traceId, span, isWhole);
  const panel = useRef<HTMLElement>(null);
  useMarks(panel, state.q, `${span?.id ?? ''} ${state.tab}`);
  if (!node || !span) return null;
  const tab = SPAN_TABS.find((each) => each === state.tab) ?? 'messages';
  const query = printState(RUN_STATE, { ...RUN_PLAIN, span: span.id, tab: tab === 'messages' ? '' : tab });
  const link = `${new URL(`traces/${traceId}`, BASE).href}?${query}`;
  const loadWhole = (): void => {
    setWhole(span.id);
  };
  const failure = span.error ?? textOf(member(data, 'error_message'));
  return (
    <section ref={panel} className={styles['span']} aria-label="Span">
      <div className={styles['panelHead']}>
        <TypeIcon type={span.type} />
        <h2 title={span.name}>{span.name === '' ? TYPE_LABELS[span.type] : span.name}</h2>
        <Status status={span.status} />
        <CopyButton label="Copy link" text={() => link} />
      </div>
      {(failure !== undefined || hasFailed(span)) && (
        <pre className={styles['errorText']} tabIndex={0} aria-label="Error">
          {failure ?? 'Failed without an error message.'}
        </pre>
      )}
      <SpanFacts
        traceId={traceId}
        node={node}
        scores={scores.filter(({ span_id }) => span_id === span.id)}
        detail={data}
        view={view}
        onShow={onShow}
      />
      {isCut(data) && (
        <p className={parts['label']} role="status">
          Long values truncated.
          <button type="button" className={parts['button']} onClick={loadWhole}>
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
            // An empty tab would be the conversation if no span is in the URL.
            change({ span: span.id, tab: SPAN_TABS.find((each) => each === key) ?? '' }, 'replace');
          }}
        >
          <TabList className={styles['spanTabs'] ?? ''} aria-label="Span details">
            {SPAN_TABS.map((each) => (
              <Tab key={each} id={each} className={styles['tab'] ?? ''}>
                {NAMES[each]}
              </Tab>
            ))}
          </TabList>
          <TabPanel id={tab} className={styles['tabPanel'] ?? ''}>
            <LoadWhole value={isCut(data) ? loadWhole : undefined}>
              {tab === 'messages' && <MessagesTab detail={data} traceId={traceId} view={view} />}
              {tab === 'json' && <JsonTab detail={data} />}
              {tab === 'attributes' && <AttributesTab detail={data} />}
              {tab === 'logs' && <LogsTab traceId={traceId} spanId={span.id} />}
            </LoadWhole>
          </TabPanel>
        </Tabs>
      )}
    </section>
  );
}

/** The state of a link to a span. */
const RUN_PLAIN: RunState = {
  span: '',
  tab: '',
  full: false,
  q: '',
  path: false,
  squeeze: true,
  review: '',
  fold: true,
  zoom: '',
};

function isCut(detail: Json | undefined): boolean {
  const cut = member(detail, 'is_truncated');
  return cut?.kind === 'literal' && cut.value === true;
}

/** Input and output of a span as messages if they read as such, otherwise as JSON. */
function MessagesTab({
  detail,
  traceId,
  view,
}: {
  readonly detail: Json;
  readonly traceId: string;
  readonly view: TraceView;
}) {
  const [input, output] = [valueOf(detail, 'input_data'), valueOf(detail, 'output_data')];
  if (input === undefined && output === undefined) return <RunInstead traceId={traceId} view={view} />;
  const asked = input && readConversation(input, 'input');
  const answered = output && readConversation(output, 'output');
  const read = divided(asked?.messages ?? [], answered?.messages ?? []);
  return (
    <div className={styles['stack']}>
      {input && (
        <section className={styles['stack']} aria-labelledby="span-input">
          <h3 id="span-input" className={styles['divider']}>
            Input
          </h3>
          {asked ? (
            <>
              {read.system.length > 0 && <MessageView messages={read.system} />}
              <Folded title={formatCounted(read.earlier.length, 'earlier message')} messages={read.earlier} />
              <MessageView messages={read.asked} />
            </>
          ) : (
            <JsonView value={input} label="Input" />
          )}
          <Rest conversation={asked} label="Request parameters" />
        </section>
      )}
      {output && (
        <section className={styles['stack']} aria-labelledby="span-output">
          <h3 id="span-output" className={styles['divider']}>
            Output
          </h3>
          {answered ? (
            <>
              <Folded
                title={`${formatCounted(read.repeated.length, 'message')} repeated from the input`}
                messages={read.repeated}
              />
              <MessageView messages={read.answered} />
            </>
          ) : (
            <JsonView value={output} label="Output" />
          )}
          <Rest conversation={answered} label="Response details" />
        </section>
      )}
    </div>
  );
}

/** What a payload contains besides messages. */
function Rest({
  conversation,
  label,
}: {
  readonly conversation: Messages | undefined;
  readonly label: string;
}) {
  if (conversation === undefined || conversation.rest.length === 0) return null;
  return (
    <details className={styles['rest']}>
      <summary>{label}</summary>
      <JsonView value={{ kind: 'object', entries: conversation.rest }} label={label} />
    </details>
  );
}

/** Question and answer of the run, for a span without a payload. */
function RunInstead({ traceId, view }: { readonly traceId: string; readonly view: TraceView }) {
  const spans = view.nodes.map(({ span }) => span);
  const { asked, answered } = conversationSpans(
    spans.map((span) => ({
      span_id: span.id,
      parent_span_id: span.parentId,
      type: span.type,
      input_bytes: span.inputBytes,
      output_bytes: span.outputBytes,
    })),
  );
  const [from, to] = [asked, answered].map((id) => spans.find((span) => span.id === id));
  const question = useQuery(spanQuery(traceId, from, MAX_BYTES));
  const answer = useQuery(spanQuery(traceId, to, MAX_BYTES));
  const isLoading = question.isLoading || answer.isLoading;
  const turn = turnOf(question.data, answer.data);
  return (
    <div className={styles['stack']}>
      <p className={parts['faint']}>
        This span has no input or output.{turn !== undefined && ' Question and answer of the run:'}
      </p>
      {isLoading ? <TableSkeleton rows={3} /> : turn && <MessageView messages={turn.messages} />}
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
    const value = valueOf(detail, key);
    return value === undefined ? [] : [{ name, value }];
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

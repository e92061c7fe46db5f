import { useQueries } from '@tanstack/react-query';
import { useVirtualizer, type VirtualItem } from '@tanstack/react-virtual';
import { useEffect, useRef, useState, type ReactNode, type RefObject } from 'react';
import { Link } from 'wouter';
import { formatDuration } from '../../format/duration.js';
import { formatCounted, formatMoney } from '../../format/number.js';
import { JsonView } from '../../json/JsonView.js';
import { itemsOf, member, type Json } from '../../json/parse.js';
import { readConversation } from '../../messages/conversation.js';
import { divided, withoutSeen } from '../../messages/history.js';
import type { Message } from '../../messages/message.js';
import { LoadWhole } from '../../messages/MediaView.js';
import { MessageView, Value } from '../../messages/MessageView.js';
import { spokenIn, textsOnSide } from '../../messages/turn.js';
import { cx } from '../../parts/cx.js';
import parts from '../../parts/parts.module.css';
import { TypeIcon, TYPE_LABELS } from '../../parts/TypeIcon.js';
import type { RunSpan } from '../../trace/span.js';
import type { TraceView } from '../../trace/use-trace-view.js';
import { spanQuery } from './load-run.js';
import { isRepeated, readTurn, valueOf } from './read-turn.js';
import type { Step } from './steps.js';
import styles from './conversation.module.css';

/** More than the panel of a span loads, because histories are long. */
const MAX_BYTES = 262_144;
/** Payloads out of view are dropped, so that memory does not grow with the run. */
const KEEP_MS = 10_000;
/** Steps that are only scrolled past load nothing. */
const REST_MS = 120;
/** Longer texts are shown on request. */
const LONG_TEXT = 4000;
const MAX_LEVEL = 6;
const HEIGHTS: Readonly<Record<Step['kind'], number>> = {
  question: 140,
  turn: 190,
  tool: 130,
  agent: 80,
  agent_result: 100,
  error: 70,
  others: 40,
  answer: 140,
};

/** Position in the conversation, kept while a span is shown. */
export interface ReadingPlace {
  offset: number;
  sizes: VirtualItem[];
}

interface Props {
  readonly traceId: string;
  readonly view: TraceView;
  readonly steps: readonly Step[];
  /** Index of the span at which reading starts. */
  readonly start: number | undefined;
  readonly place: RefObject<ReadingPlace | undefined>;
  /** Link to a span. */
  readonly hrefOf: (span: RunSpan) => string;
}

/** A whole run as people read it. Only visible steps are in the DOM and load their payloads. */
export function Conversation({ traceId, view, steps, start, place, hrefOf }: Props) {
  const scroller = useRef<HTMLDivElement>(null);
  const known = place.current;
  const virtual = useVirtualizer({
    count: steps.length,
    getScrollElement: () => scroller.current,
    estimateSize: (at) => HEIGHTS[steps[at]?.kind ?? 'tool'],
    getItemKey: (at) => keyOf(steps[at]),
    overscan: 3,
    initialOffset: known?.offset ?? 0,
    initialMeasurementsCache: known?.sizes ?? [],
  });
  const first = start === undefined ? -1 : steps.findIndex((step) => stands(step, start));
  const scrollTo = useRef(virtual.scrollToIndex);
  useEffect(() => {
    if (first > 0 && place.current === undefined) scrollTo.current(first, { align: 'center' });
  }, [first, place]);
  const latest = useRef(virtual);
  useEffect(() => {
    latest.current = virtual;
  });
  useEffect(
    () => () => {
      const { scrollOffset, measurementsCache } = latest.current;
      place.current = { offset: scrollOffset ?? 0, sizes: measurementsCache };
    },
    [place],
  );
  return (
    <div
      ref={scroller}
      className={styles['scroller']}
      tabIndex={0}
      role="group"
      aria-label="Conversation"
      onKeyDown={(event) => {
        // The browser stops short of the end, because steps grow when they are loaded.
        if (event.key !== 'End' || event.target !== event.currentTarget) return;
        event.preventDefault();
        virtual.scrollToIndex(steps.length - 1, { align: 'end' });
      }}
    >
      <ol className={styles['steps']} style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ key, index, start: top }) => {
          const step = steps[index];
          const span = step && view.nodes[step.index]?.span;
          return (
            step &&
            span && (
              <li
                key={key}
                ref={virtual.measureElement}
                data-index={index}
                className={styles['step']}
                style={{
                  transform: `translateY(${String(top)}px)`,
                  paddingLeft: Math.min(step.level, MAX_LEVEL) * 20,
                }}
                aria-setsize={steps.length}
                aria-posinset={index + 1}
              >
                <OneStep
                  step={step}
                  span={span}
                  traceId={traceId}
                  view={view}
                  hrefOf={hrefOf}
                  isStart={index === first}
                />
              </li>
            )
          );
        })}
      </ol>
    </div>
  );
}

function keyOf(step: Step | undefined): string {
  if (step === undefined) return '';
  return `${String(step.index)} ${step.kind} ${step.kind === 'tool' ? step.part : ''}`;
}

function stands(step: Step, index: number): boolean {
  return step.index === index || (step.kind === 'others' && step.indexes.includes(index));
}

interface StepProps {
  readonly step: Step;
  readonly span: RunSpan;
  readonly traceId: string;
  readonly view: TraceView;
  readonly hrefOf: (span: RunSpan) => string;
  readonly isStart: boolean;
}

const TITLES: Readonly<Record<Exclude<Step['kind'], 'others'>, string>> = {
  question: 'Question',
  turn: 'Model',
  tool: 'Tool',
  agent: 'Agent',
  agent_result: 'Result of the agent',
  error: 'Error',
  answer: 'Final answer',
};

function OneStep({ step, span, traceId, view, hrefOf, isStart }: StepProps) {
  if (step.kind === 'others') return <Others step={step} view={view} hrefOf={hrefOf} />;
  const title = step.kind === 'tool' && step.part === 'result' ? 'Result' : TITLES[step.kind];
  const isPlain = step.kind === 'error' || (step.kind === 'agent' && span.inputBytes === null);
  return (
    <div
      role="group"
      className={cx(styles['card'], styles[step.kind], isStart && styles['start'])}
      aria-label={`${title}: ${nameOf(span)}`}
    >
      <div className={styles['head']}>
        <TypeIcon type={span.type} />
        <strong>{title}</strong>
        <Link className={styles['name']} href={hrefOf(span)} title={`Show this span: ${nameOf(span)}`}>
          {nameOf(span)}
        </Link>
        <span className={styles['figures']}>
          {[
            span.model !== null && span.model !== span.name ? span.model : '',
            span.end === null ? 'running' : formatDuration(span.end - span.start),
            step.kind === 'turn' && span.cost !== null ? formatMoney(span.cost) : '',
          ]
            .filter((text) => text !== '')
            .join(' · ')}
        </span>
      </div>
      {!isPlain && <Loaded step={step} traceId={traceId} view={view} />}
      {step.hasError && (
        <p className={styles['failure']}>{span.error ?? 'Failed without an error message.'}</p>
      )}
    </div>
  );
}

function nameOf({ name, type }: RunSpan): string {
  return name === '' ? TYPE_LABELS[type] : name;
}

const SHOWN_OTHERS = 4;

/** Spans that say nothing, on one line. */
function Others({
  step,
  view,
  hrefOf,
}: {
  readonly step: Extract<Step, { readonly kind: 'others' }>;
  readonly view: TraceView;
  readonly hrefOf: (span: RunSpan) => string;
}) {
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? step.indexes : step.indexes.slice(0, SHOWN_OTHERS);
  const rest = step.indexes.length - shown.length;
  return (
    <p className={styles['others']}>
      {shown.map((at) => {
        const span = view.nodes[at]?.span;
        return (
          span && (
            <Link key={at} className={styles['other']} href={hrefOf(span)} title="Show this span">
              <TypeIcon type={span.type} />
              <span>{nameOf(span)}</span>
            </Link>
          )
        );
      })}
      {rest > 0 && (
        <button
          type="button"
          className={styles['more']}
          onClick={() => {
            setWhole(true);
          }}
        >
          and {rest} more
        </button>
      )}
    </p>
  );
}

/** The indexes of the spans whose payloads a step needs, its own first. */
function neededBy(step: Step): readonly (number | undefined)[] {
  if (step.kind === 'turn') return [step.payload, step.before, step.caller];
  if (step.kind === 'answer') return [step.index, step.last];
  return [step.index];
}

/** The payload of a step, loaded when the step stays in view. */
function Loaded({
  step,
  traceId,
  view,
}: {
  readonly step: Step;
  readonly traceId: string;
  readonly view: TraceView;
}) {
  const isResting = useResting();
  const [isWhole, setWhole] = useState(false);
  const queries = useQueries({
    queries: neededBy(step).map((at, position) => {
      const query = spanQuery(
        traceId,
        at === undefined ? undefined : view.nodes[at]?.span,
        isWhole && position === 0 ? undefined : MAX_BYTES,
      );
      return { ...query, enabled: query.enabled === true && isResting, gcTime: KEEP_MS };
    }),
  });
  const failed = queries.find(({ error, data }) => error !== null && data === undefined);
  if (failed)
    return (
      <p className={parts['label']}>
        Could not load the messages.
        <button type="button" className={parts['button']} onClick={() => void failed.refetch()}>
          Try again
        </button>
      </p>
    );
  const payloads = queries.map(({ data }) => data);
  const isMissing = neededBy(step).some(
    (at, position) => at !== undefined && payloads[position] === undefined,
  );
  const [own] = payloads;
  if (isMissing || own === undefined)
    return <p className={styles['waiting']}>{view.nodes[step.index]?.span.preview || 'Loading…'}</p>;
  const loadWhole = (): void => {
    setWhole(true);
  };
  const cut = member(own, 'is_truncated');
  return (
    <LoadWhole value={loadWhole}>
      <Content step={step} payloads={payloads} own={own} />
      {cut?.kind === 'literal' && cut.value === true && (
        <p className={parts['label']}>
          Long values truncated.
          <button type="button" className={parts['button']} onClick={loadWhole}>
            Load full content
          </button>
        </p>
      )}
    </LoadWhole>
  );
}

/** Whether the component has been mounted for a moment. */
function useResting(): boolean {
  const [isResting, setResting] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => {
      setResting(true);
    }, REST_MS);
    return () => {
      clearTimeout(timer);
    };
  }, []);
  return isResting;
}

function Content({
  step,
  payloads,
  own,
}: {
  readonly step: Step;
  readonly payloads: readonly (Json | undefined)[];
  readonly own: Json;
}) {
  switch (step.kind) {
    case 'turn':
      return <TurnView step={step} payloads={payloads} own={own} />;
    case 'question':
    case 'agent':
      return <Side detail={own} side="input" />;
    case 'agent_result':
      return <Side detail={own} side="output" />;
    case 'answer':
      return isRepeated(textsOnSide(own, 'output'), spokenIn(payloads[1], 'output')) ? (
        <p className={styles['waiting']}>The same as the last answer of the model.</p>
      ) : (
        <Side detail={own} side="output" />
      );
    case 'tool':
      return (
        <>
          {step.part !== 'result' && <ToolValue detail={own} side="input" />}
          {step.part !== 'call' && <ToolValue detail={own} side="output" />}
        </>
      );
    case 'error':
    case 'others':
      return null;
  }
}

function TurnView({
  step,
  payloads: [, before, caller],
  own,
}: {
  readonly step: Extract<Step, { readonly kind: 'turn' }>;
  readonly payloads: readonly (Json | undefined)[];
  readonly own: Json;
}) {
  const { system, earlier, asked, answered, other } = readTurn(step, { own, before, caller });
  const hasNothing =
    answered.length === 0 && other === undefined && !step.hasError && step.tools.length === 0;
  return (
    <>
      <Folded title="System prompt" messages={system} />
      <Folded title={formatCounted(earlier.length, 'earlier message')} messages={earlier} />
      {asked.length > 0 && <MessageView messages={asked} limit={LONG_TEXT} />}
      {answered.length > 0 && (
        <MessageView
          messages={answered}
          limit={LONG_TEXT}
          // After a question its role tells the answer apart.
          bare={asked.length === 0 ? 'assistant' : undefined}
        />
      )}
      {other !== undefined && <JsonView value={other} label="Output" />}
      {answered.length === 0 && step.tools.length > 0 && (
        <p className={styles['waiting']}>Calls {[...new Set(step.tools)].join(', ')}.</p>
      )}
      {hasNothing && <p className={styles['waiting']}>No output.</p>}
    </>
  );
}

/** Messages behind a line; they are rendered when it is opened. */
export function Folded({
  title,
  messages,
}: {
  readonly title: string;
  readonly messages: readonly Message[];
}) {
  const [isOpen, setOpen] = useState(false);
  if (messages.length === 0) return null;
  return (
    <details
      className={styles['folded']}
      onToggle={(event) => {
        setOpen(event.currentTarget.open);
      }}
    >
      <summary>{title}</summary>
      {isOpen && <MessageView messages={messages} limit={LONG_TEXT} />}
    </details>
  );
}

function Side({ detail, side }: { readonly detail: Json; readonly side: 'input' | 'output' }): ReactNode {
  const messages = spokenIn(detail, side);
  if (messages.length > 0) {
    if (side === 'output') return <MessageView messages={messages} limit={LONG_TEXT} bare="assistant" />;
    const { system, earlier, asked } = divided(messages, []);
    return (
      <>
        <Folded title="System prompt" messages={system} />
        <Folded title={formatCounted(earlier.length, 'earlier message')} messages={earlier} />
        <MessageView messages={asked} limit={LONG_TEXT} bare="user" />
      </>
    );
  }
  const value = valueOf(detail, `${side}_data`);
  if (value === undefined || isBlank(value)) return null;
  return <JsonView value={value} label={side === 'input' ? 'Input' : 'Output'} />;
}

/** Whether a value has no text and no number, such as the arguments of a function without any. */
function isBlank(value: Json): boolean {
  if (value.kind === 'object') return value.entries.every(([, each]) => isBlank(each));
  return itemsOf(value)?.every(isBlank) ?? (value.kind === 'literal' && value.value === null);
}

/** Tools of OpenTelemetry wrap their arguments and results in an object. */
const WRAPPERS = ['arguments', 'result'];

/** Arguments and result of a tool. Nodes of graphs have messages instead. */
function ToolValue({ detail, side }: { readonly detail: Json; readonly side: 'input' | 'output' }) {
  const value = valueOf(detail, `${side}_data`);
  if (value === undefined) return null;
  const messages = value.kind === 'object' ? readConversation(value, side)?.messages : undefined;
  if (messages?.some(({ parts: inner }) => inner.some(({ kind }) => kind === 'call' || kind === 'result')))
    return side === 'input' ? (
      <Folded title={formatCounted(messages.length, 'earlier message')} messages={messages} />
    ) : (
      <MessageView
        messages={withoutSeen(messages, spokenIn(detail, 'input')).fresh}
        limit={LONG_TEXT}
        bare="tool"
      />
    );
  const [only] = value.kind === 'object' && value.entries.length === 1 ? value.entries : [];
  const inner = only && WRAPPERS.includes(only[0]) ? only[1] : value;
  return <Value label={side === 'input' ? 'Arguments' : 'Result'} value={inner} />;
}

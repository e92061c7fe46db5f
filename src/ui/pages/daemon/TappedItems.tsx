import { CircleCheck, CircleX, type LucideIcon } from 'lucide-react';
import { useState, useRef } from 'react';
import { Link } from 'wouter';
import { formatDuration } from '../../format/duration.js';
import { formatCounted } from '../../format/number.js';
import type { FlowEdge } from '../../graph/flow.js';
import { JsonView } from '../../json/JsonView.js';
import { cx } from '../../parts/cx.js';
import { Time } from '../../parts/figures.js';
import parts from '../../parts/parts.module.css';
import styles from './daemon.module.css';
import { arrived, letIn, NO_TAIL, withLoss, type Tail } from '../../live/tail.js';
import { useStream } from '../../live/use-stream.js';
import { member, parseJson, textOf, type Json } from '../../json/parse.js';

const MAX_SHOWN = 50;

/** Streams items that pass an edge while mounted. @param isReading true pauses the list */
function useTap({ pipeline, from, to }: FlowEdge, isReading: boolean) {
  const [tail, setTail] = useState<Tail<Tapped>>(NO_TAIL);
  const came = useRef(0);
  const isLive = useStream(
    `tap ${JSON.stringify([pipeline, from, to])}`,
    () => 'tap',
    ['tap', 'lost'],
    (event, data) => {
      if (event === 'lost') setTail((before) => withLoss(before, data['count'] as number | null));
      else {
        came.current += 1;
        const item = readTapped(data, String(came.current));
        setTail((before) => arrived(before, [item], isReading, MAX_SHOWN));
      }
    },
    { pipeline, from: `${from.kind}:${from.id}`, to: `${to.kind}:${to.id}` },
  );
  return {
    tail,
    isLive,
    letIn: () => {
      setTail(letIn);
    },
  };
}

/** Items that pass an edge. The list pauses while one is open. */
export function TappedItems({ edge }: { readonly edge: FlowEdge }) {
  const [open, setOpen] = useState<string | null>(null);
  const { tail, isLive, letIn } = useTap(edge, open !== null);
  const toggle = (id: string): void => {
    setOpen(open === id ? null : id);
    if (open === id) letIn();
  };
  const { shown, waiting, lost, hasUnknownLoss } = tail;
  return (
    <section aria-label="Live items" className={styles['tap']}>
      <h3>Live items</h3>
      <p className={parts['faint']} role="status">
        {!isLive
          ? 'Connecting… At most four edges can be watched at once.'
          : open !== null
            ? `Paused while you read${waiting.length > 0 ? `; ${formatCounted(waiting.length, 'item')} waiting` : ''}`
            : 'Live sample of your own data, shortened and not stored.'}
      </p>
      {(lost > 0 || hasUnknownLoss) && (
        <p className={parts['faint']}>{lost > 0 ? formatCounted(lost, 'item') : 'Some'} not shown.</p>
      )}
      {shown.length === 0 ? (
        <p className={parts['faint']}>
          No data of yours has passed since you opened this panel. Data of other users is never shown.
        </p>
      ) : (
        <ul>
          {shown.map((tapped) => (
            <OneItem
              key={tapped.id}
              tapped={tapped}
              isOpen={tapped.id === open}
              onToggle={() => {
                toggle(tapped.id);
              }}
            />
          ))}
        </ul>
      )}
    </section>
  );
}

const OUTCOMES: Readonly<
  Record<Tapped['outcome'], { readonly icon: LucideIcon; readonly word: string; readonly isBad: boolean }>
> = {
  taken: { icon: CircleCheck, word: 'Accepted', isBad: false },
  refused: { icon: CircleX, word: 'Refused', isBad: true },
  failed: { icon: CircleX, word: 'Failed', isBad: true },
};

function OneItem({
  tapped,
  isOpen,
  onToggle,
}: {
  readonly tapped: Tapped;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}) {
  const { at, batchItems, durationMs, outcome, reason, isTruncated, item } = tapped;
  const { icon: Icon, word, isBad } = OUTCOMES[outcome];
  const run = runOf(tapped);
  const title = tappedTitle(tapped);
  return (
    <li>
      <button type="button" aria-expanded={isOpen} onClick={onToggle} className={styles['item']}>
        <span className={cx(isBad && parts['bad'])} title={word}>
          <Icon size={14} aria-hidden="true" />
          <span className={parts['unseen']}>{word}: </span>
        </span>
        <b title={title}>{title}</b>
        <small>
          <Time at={at} />
        </small>
      </button>
      {isOpen && (
        <div className={styles['whole']}>
          <p className={cx(isBad ? parts['bad'] : parts['faint'])}>
            {word} in {formatDuration(durationMs)}, in a batch of {formatCounted(batchItems, 'item')}
            {reason !== null && `: ${reason}`}
          </p>
          <JsonView value={item} label={title} />
          <p className={parts['faint']}>
            {isTruncated && 'Shortened. '}
            {run !== undefined && <Link href={`/traces/${encodeURIComponent(run)}`}>Open the run</Link>}
          </p>
        </div>
      )}
    </li>
  );
}

/** An item that passed an edge, and its outcome. */
interface Tapped {
  readonly id: string;
  readonly at: string;
  readonly signal: 'traces' | 'metrics' | 'logs' | 'events';
  /** Size of the batch, and how long it took. */
  readonly batchItems: number;
  readonly durationMs: number;
  readonly outcome: 'taken' | 'refused' | 'failed';
  readonly reason: string | null;
  readonly isTruncated: boolean;
  /** Shortened, without empty members. */
  readonly item: Json;
}

/** Reads a stream event. @param id list key */
function readTapped(data: Readonly<Record<string, unknown>>, id: string): Tapped {
  return {
    id,
    at: data['at'] as string,
    signal: data['signal'] as Tapped['signal'],
    batchItems: data['batch_items'] as number,
    durationMs: data['duration_ms'] as number,
    outcome: data['outcome'] as Tapped['outcome'],
    reason: data['reason'] as string | null,
    isTruncated: data['is_truncated'] as boolean,
    item: parseJson(JSON.stringify(data['item'])),
  };
}

/** One-line title of an item. */
function tappedTitle({ signal, item }: Pick<Tapped, 'signal' | 'item'>): string {
  if (signal === 'traces') return textOf(member(item, 'trace'), 'agent') ?? 'Trace';
  if (signal === 'metrics') return textOf(item, 'name') ?? 'Metric point';
  if (signal === 'events') return textOf(item, 'type') ?? 'Event';
  const service = textOf(item, 'service_name') ?? '';
  const body = textOf(item, 'body') ?? textOf(item, 'event_name') ?? textOf(item, 'severity') ?? '';
  return [service, body].filter((part) => part !== '').join(': ') || 'Log record';
}

/** The run id of an item, or undefined. */
function runOf({ signal, item }: Pick<Tapped, 'signal' | 'item'>): string | undefined {
  return textOf(signal === 'traces' ? member(item, 'trace') : item, 'trace_id');
}

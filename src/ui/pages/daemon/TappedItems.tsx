import { CircleCheck, CircleX, type LucideIcon } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { formatDuration } from '../../format/duration.js';
import { formatCounted } from '../../format/number.js';
import type { FlowEdge } from '../../graph/flow.js';
import { JsonView } from '../../json/JsonView.js';
import { cx } from '../../parts/cx.js';
import { Time } from '../../parts/figures.js';
import parts from '../../parts/parts.module.css';
import { runOf, tappedTitle, type Tapped } from './tapped.js';
import { useTap } from './use-tap.js';
import styles from './daemon.module.css';

/** What passes an edge now. While one of the items is open, the others wait. */
export function TappedItems({ edge }: { readonly edge: FlowEdge }) {
  const [open, setOpen] = useState<string | null>(null);
  const { tail, isLive, letIn } = useTap(edge, open !== null);
  const turn = (id: string): void => {
    setOpen(open === id ? null : id);
    if (open === id) letIn();
  };
  const { shown, waiting, lost, hasUnknownLoss } = tail;
  return (
    <section aria-label="What passes now" className={styles['tap']}>
      <h3>What passes now</h3>
      <p className={parts['faint']} role="status">
        {!isLive
          ? 'Connecting… At most four edges can be looked at at a time.'
          : open !== null
            ? `Held while you read${waiting.length > 0 ? `; ${formatCounted(waiting.length, 'item')} waiting` : ''}`
            : 'Live: some of what you sent, cut. Nothing is kept.'}
      </p>
      {(lost > 0 || hasUnknownLoss) && (
        <p className={parts['faint']}>
          {lost > 0 ? formatCounted(lost, 'item') : 'Some'} passed without being shown.
        </p>
      )}
      {shown.length === 0 ? (
        <p className={parts['faint']}>
          Nothing of yours has passed since this was opened. What other users send is never shown here.
        </p>
      ) : (
        <ul>
          {shown.map((tapped) => (
            <OneItem
              key={tapped.id}
              tapped={tapped}
              isOpen={tapped.id === open}
              onTurn={() => {
                turn(tapped.id);
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
  taken: { icon: CircleCheck, word: 'Taken', isBad: false },
  refused: { icon: CircleX, word: 'Refused', isBad: true },
  failed: { icon: CircleX, word: 'Failed', isBad: true },
};

function OneItem({
  tapped,
  isOpen,
  onTurn,
}: {
  readonly tapped: Tapped;
  readonly isOpen: boolean;
  readonly onTurn: () => void;
}) {
  const { at, batchItems, durationMs, outcome, reason, isTruncated, item } = tapped;
  const { icon: Icon, word, isBad } = OUTCOMES[outcome];
  const run = runOf(tapped);
  const title = tappedTitle(tapped);
  return (
    <li>
      <button type="button" aria-expanded={isOpen} onClick={onTurn} className={styles['item']}>
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

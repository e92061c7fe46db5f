import { member, type Json } from '../../json/parse.js';
import { formatDuration } from '../../format/duration.js';
import { formatClock, zoneLabel } from '../../format/time.js';
import { formatCount, formatMoney } from '../../format/number.js';
import { useSettings } from '../../state/settings.js';
import { formatRepeat } from '../../trace/format-repeat.js';
import type { TreeNode } from '../../trace/tree.js';
import type { TraceView } from '../../trace/use-trace-view.js';
import type { LoadedRun } from './load-run.js';
import { Rating } from './Rating.js';
import { SpanScores } from './Scores.js';
import styles from './run.module.css';

interface Props {
  readonly traceId: string;
  readonly node: TreeNode;
  readonly scores: LoadedRun['run']['scores'];
  readonly detail: Json | undefined;
  readonly view: TraceView;
  readonly onShow: (index: number) => void;
}

const PARTS: readonly (readonly [string, string])[] = [
  ['cached_read', 'cache read'],
  ['cached_write', 'cache write'],
  ['cached_write_1h', 'of it for one hour'],
  ['reasoning', 'reasoning'],
  ['audio_input', 'audio in'],
  ['audio_output', 'audio out'],
];

/** Times, usage and cost of a span. */
export function SpanFacts({ traceId, node, scores, detail, view, onShow }: Props) {
  const { span } = node;
  const { zone } = useSettings();
  const usage = member(detail, 'usage');
  const cost = member(detail, 'cost');
  const firstChunk = figureOf(detail, 'time_to_first_chunk_ms');
  const parts = PARTS.flatMap(([key, words]) => {
    const value = figureOf(usage, key);
    return value === undefined || value === 0 ? [] : [`${formatCount(value)} ${words}`];
  });
  const repeat = view.repeatOf(node.index);
  const sameAs = span.sameAs === null ? undefined : view.indexOf(span.sameAs);
  return (
    <dl className={styles['spanFacts']}>
      <dt>Time</dt>
      <dd>
        {formatClock(span.start, zone)} {zoneLabel(span.start, zone)} · started at +
        {formatDuration(Math.max(0, span.start - view.extent.start))}
        {span.end === null ? ' · still running' : ` · took ${formatDuration(span.end - span.start)}`}
      </dd>
      {firstChunk !== undefined && (
        <>
          <dt>First chunk</dt>
          <dd>after {formatDuration(firstChunk)}</dd>
        </>
      )}
      {span.model !== null && (
        <>
          <dt>Model</dt>
          <dd>{span.model}</dd>
        </>
      )}
      {span.tokens !== null && (
        <>
          <dt>Tokens</dt>
          <dd>
            {formatCount(span.tokens)}
            {span.inputTokens !== null && `: ${formatCount(span.inputTokens)} in`}
            {span.outputTokens !== null && `, ${formatCount(span.outputTokens)} out`}
            {parts.length > 0 && <small> ({parts.join(', ')})</small>}
          </dd>
        </>
      )}
      {span.cost !== null && (
        <>
          <dt>Cost</dt>
          <dd>
            {formatMoney(span.cost)}
            <CostParts cost={cost} />
          </dd>
        </>
      )}
      {node.children.length > 0 && (node.cost !== null || node.tokens !== null) && (
        <>
          <dt>Including children</dt>
          <dd>
            {[
              node.tokens === null ? undefined : `${formatCount(node.tokens)} tokens`,
              node.cost === null ? undefined : formatMoney(node.cost),
            ]
              .filter((text) => text !== undefined)
              .join(', ')}
          </dd>
        </>
      )}
      <SpanScores scores={scores} />
      <dt>Rating</dt>
      <dd>
        <Rating traceId={traceId} spanId={span.id} scores={scores} />
      </dd>
      {repeat && (
        <>
          <dt>Repeats</dt>
          <dd>{formatRepeat(repeat)}</dd>
        </>
      )}
      {!span.counted && (
        <>
          <dt>Duplicate</dt>
          <dd>
            Another instrumentation reported the same call; the call is counted there.{' '}
            {sameAs !== undefined && (
              <button
                type="button"
                className={styles['textButton']}
                onClick={() => {
                  onShow(sameAs);
                }}
              >
                Show that span
              </button>
            )}
          </dd>
        </>
      )}
    </dl>
  );
}

const COSTS: readonly (readonly [string, string])[] = [
  ['input', 'input'],
  ['cached_read', 'cached input'],
  ['cached_write', 'cache writes'],
  ['cached_write_5m', 'cache writes for 5 min'],
  ['cached_write_1h', 'cache writes for 1 h'],
  ['output', 'output'],
  ['audio_input', 'audio in'],
  ['audio_output', 'audio out'],
];

const TIERS: Readonly<Record<string, string>> = {
  unpriced: 'standard price, because the price list has none for the service tier',
};

function CostParts({ cost }: { readonly cost: Json | undefined }) {
  const source = member(cost, 'source');
  const rule = member(cost, 'rule');
  const tier = member(cost, 'tier');
  const parts = COSTS.flatMap(([key, words]) => {
    const value = figureOf(cost, key);
    return value === undefined || value === 0 ? [] : [`${formatMoney(value)} ${words}`];
  });
  const from =
    source?.kind === 'string' && source.text === 'priced'
      ? `calculated from price list${rule?.kind === 'string' ? `, ${rule.text}` : ''}`
      : source?.kind === 'string'
        ? 'reported by client'
        : undefined;
  const words = [
    ...parts,
    ...(from === undefined ? [] : [from]),
    ...(tier?.kind === 'string' ? [TIERS[tier.text] ?? `${tier.text} price`] : []),
  ];
  return words.length === 0 ? null : <small> ({words.join(', ')})</small>;
}

function figureOf(value: Json | undefined, key: string): number | undefined {
  const found = member(value, key);
  return found?.kind === 'number' ? Number(found.digits) : undefined;
}
